#include "slimbayes/methods/weight_space/weight_draws.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/methods/weight_space/running_mixture.h"

namespace slimbayes {

namespace {

/// Returns whether all draws answer these rows in one pass: at most 64 rows, and fewer if they are long
/// sequences, so that the activations stay small.
bool is_small(const std::vector<Input>& batches, const Shape& input) {
  constexpr int64_t kFewRows = 64, kFewSteps = 1024;
  if (batches.size() != 1) return false;
  const at::Tensor& x = batches[0].x;
  const int64_t steps = input.tokens || input.is_sequence() ? x.size(1) : 1;
  return x.size(0) > 0 && x.size(0) <= kFewRows && x.size(0) * steps <= kFewSteps;
}

}  // namespace

Predictive predict_by_draws(const WeightDraws& draws, const Head& head, const Dataset& data,
                            const PredictOptions& options, std::string_view method) {
  const auto answers = [&](const std::vector<Input>& batches, const std::function<void(double)>& progress) {
    if (draws.together && is_small(batches, draws.input)) {
      const Predictive all = head.answer(on_cpu(draws.together(batches[0])).to(at::kDouble));
      return std::vector<Predictive>{mixture_of_draws(all, draws.draws)};
    }
    std::vector<RunningMixture> mixtures(batches.size());
    for (int64_t s = 0; s < draws.draws; ++s) {
      const auto network = draws.network(s);
      for (size_t i = 0; i < batches.size(); ++i)
        mixtures[i].add(head.answer(on_cpu(network(batches[i])).to(at::kDouble)));
      if (progress) progress(static_cast<double>(s + 1) / static_cast<double>(draws.draws));
    }
    std::vector<Predictive> all;
    for (const RunningMixture& one : mixtures) all.push_back(one.mixture());
    return all;
  };
  return predict_groups(data, draws.input, at::kFloat, options, method, answers);
}

Weights placed(const Weights& weights, at::Device device) {
  Weights there;
  for (const auto& [name, value] : weights) there[name] = value.to(at::dtype(at::kFloat).device(device));
  return there;
}

Dataset rows_of_noise(const Dataset& valid, const Dataset& train, const FitContext& context) {
  return on_device(
      valid.size() > 0 ? valid : enough_rows(train, context.stream.split("noise rows"), context.ranks),
      context.device);
}

double noise_of_draws(const WeightDraws& draws, const Dataset& rows, std::string_view method) {
  constexpr int kPoints = 49;
  const auto p = std::get<Regression>(predict_by_draws(draws, {{.noise_var = 1}}, rows, {}, method));
  const at::Tensor error = (targets_of(rows).to(at::kDouble) - p.mean).square(), weights = rows.weights();
  const double mse = std::max(weighted_mean(error, weights), 1e-12);
  double best = mse, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kPoints; ++i) {
    const double noise = 1e-3 * mse * std::pow(2000.0, static_cast<double>(i) / (kPoints - 1));
    const at::Tensor var = noise + p.epistemic_var;
    const double score = weighted_mean(var.log() + error / var, weights);
    if (score < least) least = score, best = noise;
  }
  return best;
}

}  // namespace slimbayes
