#include "slimbayes/methods/last_layer/last_layer_choice.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/log_range.h"

namespace slimbayes {

namespace {

/// Returns r numbers with the squared norm of the trained weights that the posterior is over, for its
/// evidence: those of the output layer, and with a sketch one number more for all earlier parameters. [r]
at::Tensor weights_of(const TrainedNetwork& network, int64_t r) {
  const at::Tensor last = output_weights(network)[0];
  if (last.size(0) == r) return last;
  double sum = 0;
  for (const at::Tensor& one : last_layer_gradients(network).parameters)
    sum += one.detach().to(at::kDouble).square().sum().item<double>();
  at::Tensor all = at::zeros({r}, at::kDouble);
  all.narrow(0, 0, last.size(0)).copy_(last);
  all[last.size(0)] = std::sqrt(sum);
  return all;
}

}  // namespace

PosteriorChoice regression_choice(const TrainedNetwork& network, const Task& task,
                                  const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                                  const LastLayerOptions& options, bool unseen) {
  const LinearStatistics& s = posterior.statistics[0];
  const double target_sd = network.module ? std::sqrt(network.target_var) : task.encoded_sd;
  const double unit = target_sd * unit_prior_sd(s.S.diagonal().sum().item<double>(), s.n);
  const at::Tensor prior = options.choice.prior == "select" ? posterior.prior_factor : at::Tensor();
  const at::Tensor residual = valid.y.defined() ? valid.y - valid.output.squeeze(-1) : at::Tensor();
  PosteriorSpectrum spectrum = spectrum_of(s, prior, weights_of(network, s.rank()), valid.features, residual,
                                           options.mean == "posterior");
  spectrum.weight = valid.weight;
  return chosen(spectrum, {network.head.noise_var, unseen}, options.choice, unit);
}

PosteriorChoice class_choice(const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                             const PosteriorChoiceOptions& options) {
  constexpr int64_t kRows = 2000;  // validation rows, at most
  if (options.prior == "fixed") return {0, options.prior_sd};
  double sum = 0, count = 0;
  for (const LinearStatistics& one : posterior.statistics) {
    sum += one.S.diagonal().sum().item<double>();
    count += one.n;
  }
  const double unit = unit_prior_sd(sum, count);
  if (options.prior == "unit" || !valid.y.defined()) return {0, unit};
  const int64_t n = std::min(kRows, valid.y.size(0));
  const LastLayerRows rows{valid.features.narrow(0, 0, n), valid.output.narrow(0, 0, n)};
  const at::Tensor y = valid.y.narrow(0, 0, n);
  const LeastScore best = least_score(prior_range(unit), [&](double sd) {
    LastLayerPosterior tried = posterior;
    tried.prior_factor = sd * posterior.prior_factor;
    const Predictive p = class_answer(latent_at(tried.outputs(), rows));
    if (!valid.weight.defined()) return *mean_nll(p, y);
    return weighted_mean(row_nll(p, y), valid.weight.narrow(0, 0, n));
  });
  if (!std::isfinite(best.score))
    throw NumericalError("no prior sd has a finite validation NLL; look for extreme inputs");
  PosteriorChoice choice{0, best.at};
  if (std::string note = class_prior_note(best.at, unit); !note.empty())
    choice.notes.push_back(std::move(note));
  return choice;
}

}  // namespace slimbayes
