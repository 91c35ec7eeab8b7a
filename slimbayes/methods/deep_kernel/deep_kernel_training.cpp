// How a deep kernel is trained on each task. E-11 and E A.5 are equation 11 and appendix A.5 of paper E
// (docs/references.md).
//
// Regression  Mini-batch steps on the method's objective, with its gradient in closed form
//             (objectives/head_gradient.h).
// Classes,    Mini-batch steps on the bound -mean E_q log p(y | f) + beta / n KL. Automatic differentiation
// counts      sees the expectation as a function of the means and variances of f, the rest is in closed form
//             (objectives/latent_gradient.h). The expectation under the posterior q uses quadrature for
//             Bernoulli and the counts with a noise of their own, a few draws per row for softmax, and a
//             closed form for Poisson. The parameter of that noise is trained with the others.
// Events      The rows are the events of a Cox process (E A.5). The loss is -(mean over the events of the
//             mean of f) + 1/n (integral of exp(mean + var / 2) over the domain [-1, 1]^d) + beta / n KL,
//             with the mean and variance of f under q. Each step estimates the integral from one random point
//             in each cell of a grid, or from uniform random points in more than three dimensions. The
//             estimate is unbiased. With fixed nodes the intensity could hide peaks between the nodes.
//             Validation integrates adaptively and looks for peaks at training events (core/cubature.h).
// Selection   The parameters with the best validation NLL are kept; for events, those with the best data term
//             of the bound on the validation events.
// Cost        O(b k r^2) per step for b rows, k latent functions and r features, plus the network's cost.
// Deviations  sv-dbk's trace regulariser and diagonal correction are used for Gaussian noise only: E-11
//             divides by the noise variance, and the bound of E A.5 has neither term. For other tasks a note
//             says so.

#include "slimbayes/methods/deep_kernel/deep_kernel_training.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/cubature.h"
#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/method/network_problem.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/methods/deep_kernel/event_probes.h"
#include "slimbayes/objectives/variational_bound.h"

namespace slimbayes {

namespace {

constexpr int64_t kStepDraws = 8;  // softmax draws per row and step
constexpr int64_t kKernelDraws = 64;
constexpr int64_t kMaxGridAxes = 3;
constexpr int64_t kRandomNodes = 2048;
constexpr Accuracy kSelection{1e-3, int64_t{1} << 14};  // accuracy of the integral in validation

/// Returns the number of cells per axis of the grid over the domain from which a training step draws its
/// nodes, for d <= 3 axes.
int64_t step_nodes(int64_t d) { return d == 1 ? 128 : d == 2 ? 20 : 8; }

double volume_of(int64_t d) { return std::pow(2.0, static_cast<double>(d)); }

/// Returns random nodes [q, d] in [-1, 1]^d and the volume that each stands for. Up to three axes they are
/// one uniform point in each cell of a grid. Beyond that a grid would be too coarse, and they are uniform
/// points in the whole domain. They are made on this device.
std::pair<at::Tensor, double> random_nodes(int64_t d, const Stream& stream, at::Device device) {
  const at::TensorOptions doubles = at::dtype(at::kDouble).device(device);
  if (d > kMaxGridAxes)
    return {2 * stream.uniform({kRandomNodes, d}, doubles.dtype(at::kFloat)) - 1,
            volume_of(d) / kRandomNodes};
  int64_t q = step_nodes(d);
  double cell = 2.0 / static_cast<double>(q);
  at::Tensor corners = tensor_grid({at::arange(q, doubles) * cell - 1, at::ones({q}, doubles)}, d).nodes;
  at::Tensor nodes = corners + cell * stream.uniform(corners.sizes(), doubles);
  return {nodes.to(at::kFloat), volume_of(d) / static_cast<double>(nodes.size(0))};
}

/// Returns the random stream of a step for the expectations and integrals of the bound. The network's dropout
/// uses another stream (StepContext::stream). Ranks that share a batch take other numbers each.
Stream step_stream(const DeepKernelFit& fit, const StepContext& at) {
  const Stream own = fit.draws.split("step").split(static_cast<uint64_t>(at.step));
  const int64_t rank = at.share < 1 ? fit.ranks->rank() : 0;
  return rank == 0 ? own : own.split("rank").split(static_cast<uint64_t>(rank));
}

/// Returns the places at which the events of a batch happened, as points of the domain [-1, 1]^d. [b, d]
at::Tensor places(const Batch& batch) { return batch.inputs[0].to(at::kFloat); }

/// Returns how the ranks join the totals of a batch, of which this one has a share of the rows.
JoinTotals joined_by(const Collective& ranks, double share) {
  return [&ranks, share](const BatchTotals& own) {
    const at::Tensor all = ranks.gather(at::tensor({own.rows, own.weights, own.largest}, at::kDouble));
    const at::Tensor sums = all.sum(0);
    const auto [largest, owner] = all.select(1, 2).max(0);  // the first of equals
    return BatchTotals{.rows = sums[0].item<double>(),
                       .weights = sums[1].item<double>(),
                       .largest = largest.item<double>(),
                       .largest_weight = owner.item<int64_t>() == ranks.rank() ? 1 / share : 0};
  };
}

/// regression_step, rows_step (classes and counts) and events_step each run one training step:
/// they add the gradient of the loss to those of the parameters and return the loss.
StepLoss regression_step(const DeepKernelFit& fit, const Batch& batch, const StepContext& at) {
  VariationalLoss loss =
      fit.model.backward(input_of(batch), batch.target.to(at::kFloat), fit.total, fit.kernel.objective,
                         focus_at(fit.kernel.focus, at.step, at.steps), {true, at.stream, false, at.total},
                         at.share < 1 ? joined_by(*fit.ranks, at.share) : JoinTotals());
  return loss.total;
}

StepLoss rows_step(const DeepKernelFit& fit, const Batch& batch, const StepContext& at) {
  const at::Tensor y = batch.target.to(at::kFloat);
  // The likelihood is made within the data term, where automatic differentiation records: it reaches the
  // parameter of the noise of counts, whose gradient it adds up by itself.
  const auto data = [&](const Latent& f) {
    const Likelihood likelihood =
        likelihood_of(fit.task().likelihood, fit.model, {step_stream(fit, at), kStepDraws, false});
    return -expected_log_prob(likelihood, f, y).mean();
  };
  const VariationalLoss loss = fit.model.backward(input_of(batch), fit.total, fit.kernel.objective.beta, data,
                                                  {true, at.stream, false, at.total});
  return loss.total;
}

StepLoss events_step(const DeepKernelFit& fit, const Batch& batch, const StepContext& at) {
  const at::Tensor events = places(batch);
  const auto [nodes, weight] = random_nodes(events.size(1), step_stream(fit, at), events.device());
  const at::Tensor weights = at::full({nodes.size(0)}, weight, nodes.options());
  const VariationalLoss loss = fit.model.backward(
      at::cat({events, nodes}), fit.total, fit.kernel.objective.beta,
      [&](const Latent& f) { return cox_data(f, weights, fit.total); }, {true, at.stream, false, at.total});
  return loss.total;
}

/// Returns the latent functions on the CPU, where answers are scored.
Latent brought(const Latent& f) { return {on_cpu(f.mean), on_cpu(f.epistemic_var), f.zeroed}; }

double rows_score(const DeepKernelFit& fit) {
  const Likelihood likelihood =
      likelihood_of(fit.task().likelihood, fit.model, {fit.draws.split("valid"), kKernelDraws, true});
  const at::Tensor largest = fit.model.largest_prior_var(fit.rows, fit.ranks);
  const auto loss = [&](const Input& input, const at::Tensor& y) {
    const Latent f = brought(fit.model.latent(input, {}, largest));
    return on_device(-log_predictive(likelihood, f, on_cpu(y)), y.device());
  };
  return mean_over_rows(fit.held_out, loss, fit.ranks);
}

/// Returns the validation score of events, lower is better: (integral of the expected intensity over the
/// domain) / (number of training events) - (mean over the validation events of the mean of f). It is the data
/// term of the bound, per event.
double events_score(const DeepKernelFit& fit) {
  at::NoGradGuard no_grad;
  const auto intensity = [&](const at::Tensor& x) {
    const Latent f = brought(fit.model.latent(on_device(x.to(at::kFloat), fit.rows.device())));
    return expected_intensity({f.mean.squeeze(1), f.epistemic_var.squeeze(1)});
  };
  const Batch events = fit.rows.all(), others = fit.held_out.all();
  const double expected = integral(intensity, event_probes(on_cpu(places(events))), kSelection).value;
  return expected / fit.total - fit.model.latent(places(others)).mean.mean(at::kDouble).item<double>();
}

}  // namespace

Likelihood likelihood_of(LikelihoodKind kind, const DeepKernelModel& model,
                         const SoftmaxLikelihood& softmax) {
  switch (kind) {
    case LikelihoodKind::gaussian:
      return GaussianLikelihood{on_cpu(model.noise_var())};
    case LikelihoodKind::student:
      return StudentLikelihood{on_cpu(model.noise_var()), model.dof()};
    case LikelihoodKind::bernoulli:
      return BernoulliLikelihood{};
    case LikelihoodKind::softmax:
      return softmax;
    case LikelihoodKind::poisson:
      return PoissonLikelihood{};
    case LikelihoodKind::negative_binomial:
      return NegativeBinomialLikelihood{model.dispersion()};
    case LikelihoodKind::zero_inflated_poisson:
      return ZeroInflatedPoissonLikelihood{model.zero_share()};
    case LikelihoodKind::cox:
      break;
  }
  return CoxLikelihood{};
}

at::Tensor constant_offsets(const Dataset& rows, const Collective* ranks) {
  const Task& task = rows.schema.task;
  if (task.kind == TaskKind::regression) return at::zeros({1}, at::kDouble);
  const double n = rows.total_weight();
  if (task.kind == TaskKind::events)
    return at::full({1}, std::log(n / volume_of(rows.schema.input.width())), at::kDouble);
  const bool counts = task.kind == TaskKind::counts;
  const int64_t classes = std::max<int64_t>(2, task.outputs);
  at::Tensor sums = at::zeros({counts ? 1 : classes}, at::kDouble);  // of the counts, or of rows by class
  const RankRows own = rows_of_rank(rows, ranks);
  on_all_ranks(own.ranks, [&] {
    over_batches(own.rows, {}, [&](const Batch& batch) {
      const at::Tensor y = on_cpu(batch.target), w = on_cpu(batch.weight);
      sums += counts ? (w.defined() ? y * w : y).sum(at::kDouble).reshape({1})
                     : at::bincount(y.to(at::kLong), w, classes).to(at::kDouble);
    });
  });
  sum_over_ranks({sums}, own.ranks);
  if (counts) return at::log((sums / n).clamp_min(0.5 / n));
  const at::Tensor share = sums + 0.5;
  const at::Tensor log_share = at::log(share / share.sum());
  return task.outputs == 1 ? (log_share[1] - log_share[0]).reshape({1}) : log_share;
}

TrainProblem deep_kernel_problem(const DeepKernelFit& fit, const NetworkSpec& spec,
                                 const Parameters& parameters) {
  const TrainingOptions& t = fit.kernel.training;
  const TaskKind kind = fit.task().kind;
  const bool regression = kind == TaskKind::regression, events = kind == TaskKind::events;
  TrainProblem problem = network_problem(parameters,
                                         {{"network", {t.learning_rate, t.weight_decay}},
                                          {"head", {t.learning_rate}},
                                          {"noise", {fit.kernel.noise.noise_rate}}},
                                         fit.rows, t, fit.ranks);
  problem.mean_of_rows = true;
  const auto step = regression ? regression_step : events ? events_step : rows_step;
  problem.step = [&fit, step](const Batch& batch, const StepContext& at) { return step(fit, batch, at); };
  if (fit.held_out.size() > 0)
    problem.validate = [&fit, events] { return events ? events_score(fit) : rows_score(fit); };
  return problem;
}

}  // namespace slimbayes
