#include "slimbayes/method/shared_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <variant>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/class_weights.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/network_problem.h"
#include "slimbayes/storage/contents.h"

namespace slimbayes {

namespace {

constexpr const char *kSharedSpec = "network", *kSharedSummary = "summary",
                     *kTargetNoise = "noise_of_targets";
constexpr double kLeastTargetNoise = 1e-12;  // of a standardised target: even a perfect fit does not prove 0

/// Returns f - y where y is known, else 0. [b, k]
at::Tensor known_errors(const at::Tensor& output, const at::Tensor& y) {
  return at::where(y.isnan(), at::zeros_like(output), output - y);
}

/// Sums over rows by their weights.
struct ErrorSums {
  at::Tensor squares;  // [k] float64: the squared errors of each target, over the rows that have it
  at::Tensor weight;   // [k] float64: the weights of these rows
  double rows = 0;     // the weights of all rows

  double loss() const { return squares.sum().item<double>() / rows; }
};

ErrorSums error_sums(const BoundNetwork& network, const Dataset& data, int64_t targets) {
  ErrorSums sums{at::zeros({targets}, at::kDouble), at::zeros({targets}, at::kDouble)};
  over_batches(data, {}, [&](const Batch& batch) {
    const at::Tensor y = batch.target.to(at::kFloat), known = y.isnan().logical_not();
    const at::Tensor squares = known_errors(network(input_of(batch)), y).square().to(at::kDouble);
    const at::Tensor weight =
        (batch.weight.defined() ? batch.weight : at::ones({y.size(0)}, doubles_like(y)));
    sums.squares += on_cpu((squares * weight.unsqueeze(1)).sum(0));
    sums.weight += on_cpu((known * weight.unsqueeze(1)).sum(0));
    sums.rows += weight.sum().item<double>();
  });
  return sums;
}

/// Returns the noise variance of each target [k] float64.
at::Tensor noise_of_targets(const BoundNetwork& network, const Dataset& rows, const Dataset& held_out,
                            int64_t targets) {
  const ErrorSums seen = error_sums(network, rows, targets);
  at::Tensor noise = seen.squares / seen.weight;
  if (held_out.size() > 0) {
    const ErrorSums unseen = error_sums(network, held_out, targets);
    noise = at::where(unseen.weight > 0, unseen.squares / unseen.weight, noise);
  }
  return noise.clamp_min(kLeastTargetNoise);
}

}  // namespace

LossGradient masked_loss_gradient(const at::Tensor& output, const at::Tensor& y) {
  const at::NoGradGuard no_grad;
  const at::Tensor errors = known_errors(output.detach(), y);
  const double share = 1 / static_cast<double>(output.size(0));
  return {share_of_sum(errors.square().sum(), share), errors * (2 * share)};
}

SharedNetwork train_shared_network(const TrainedNetworkOptions& options, const Split& split,
                                   const FitContext& context, std::string_view method) {
  const Dataset rows = on_device(split.train, context.device),
                held_out = on_device(split.valid, context.device);
  check(rows.size() > 0, method, "training rows with a target", "none");
  const at::Tensor known = targets_of(split.train).isnan().logical_not().any(0);
  check(known.all().item<bool>(), method, "training rows of every target", "a target without any");
  const int64_t targets = known.size(0);
  const Schema& schema = rows.schema;
  // Of numbers both refuse every value but their defaults, as in a fit of one target.
  class_weights(options.class_weights, rows, method, context.ranks);
  check_label_smoothing(options.label_smoothing, schema.task, method);
  SharedNetwork out{trained_network_spec(options, schema.input, schema.tokens, targets), {}, {}};
  const Parameters parameters(
      network_parameters(out.spec, "network", "network", context.stream.split("start")),
      at::dtype(at::kFloat).device(context.device));
  const BoundNetwork network(
      out.spec, "network", [&](const std::string& name) { return parameters[name]; }, context.execution);

  const TrainingOptions& training = options.training;
  TrainProblem problem =
      network_problem(parameters, {{"network", {training.learning_rate, training.weight_decay}}}, rows,
                      training, /*ranks=*/nullptr, "MSE");
  problem.score = "summed validation MSE";
  problem.mean_of_rows = true;
  problem.trained_by = network.by_engine() ? "engine" : "libtorch";
  problem.step = [&](const Batch& batch, const StepContext& at) {
    const at::Tensor output = network(input_of(batch), {true, at.stream, false, at.total});
    const LossGradient found = masked_loss_gradient(output, batch.target.to(at::kFloat));
    output.backward(found.gradient);
    return found.loss;
  };
  if (held_out.size() > 0) problem.validate = [&] { return error_sums(network, held_out, targets).loss(); };

  out.summary = train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
  out.summary.valid_rows = held_out.size();
  out.weights = snapshot(parameters);
  out.noise_var = noise_of_targets(network, rows, held_out, targets);
  return out;
}

TrainedNetwork network_of_target(const SharedNetwork& shared, int64_t target) {
  TrainedNetwork out{shared.spec, shared.weights, {}, {}};
  auto* const last = std::get_if<Linear>(&out.spec.layers.back());
  internal_check(last != nullptr, "network_of_target", "a network that ends in a linear layer");
  last->out = 1;
  const std::string layer = fmt::format("network.{}.", out.spec.layers.size() - 1);
  for (const char* const part : {"weight", "bias"})
    if (const auto found = out.weights.find(layer + part); found != out.weights.end())
      found->second = found->second.narrow(0, target, 1).clone();
  out.head = {{LikelihoodKind::gaussian, 1, shared.noise_var[target].item<double>()}};
  return out;
}

TensorFile to_file(const SharedNetwork& shared) {
  TensorFile file;
  file.metadata[kSharedSpec] = to_json(shared.spec).dump();
  file.metadata[kSharedSummary] = to_json(shared.summary).dump();
  store(shared.weights, file);
  store({{kTargetNoise, shared.noise_var}}, file);
  return file;
}

SharedNetwork shared_network_from(const TensorFile& file) {
  const Weights all = weights_from(file);
  SharedNetwork out{network_from_json(stored_json(file, kSharedSpec)), network_weights(all),
                    as_type(all, at::kDouble)(kTargetNoise),
                    summary_from_json(stored_json(file, kSharedSummary))};
  check_shape(out.noise_var, {output(out.spec).sizes.at(0)}, "shared network", kTargetNoise);
  return out;
}

}  // namespace slimbayes
