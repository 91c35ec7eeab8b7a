#include "slimbayes/method/trained_network.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/answers/pixels.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/class_weights.h"
#include "slimbayes/method/loss_gradient.h"
#include "slimbayes/method/network_cache.h"
#include "slimbayes/method/network_problem.h"
#include "slimbayes/method/stored_statistics.h"

namespace slimbayes {

TrainedNetwork train_network(const NetworkSpec& spec, const Split& split, const NetworkTraining& how,
                             const FitContext& context, std::string_view method) {
  const Dataset rows = training_rows(split.train, method, context.device),
                held_out = validation_rows(split.valid, rows, method);
  const TrainingOptions& training = how.options;
  const Task& task = rows.schema.task;
  const Head head = head_of(task);
  const at::Tensor weights = class_weights(how.class_weights, rows, method, context.ranks);
  check_label_smoothing(how.label_smoothing, task, method);
  std::vector<ParameterSpec> start =
      network_parameters(spec, "network", "network", context.stream.split("start"));
  if (how.start != nullptr) {
    for (ParameterSpec& one : start) one.start = how.start->at(one.name);
  }
  const Parameters parameters(start, at::dtype(at::kFloat).device(rows.device()));
  const BoundNetwork network(
      spec, "network", [&](const std::string& name) { return parameters[name]; }, context.execution);
  const auto losses = [&](const at::Tensor& output, const at::Tensor& target, double smoothing) {
    const Labelled rows_of = labelled(output, target);
    return weighted(head.loss(rows_of.output, rows_of.y, smoothing), rows_of.y, weights);
  };
  const auto loss_of = [&](const Input& input, const at::Tensor& y) { return losses(network(input), y, 0); };

  TrainProblem problem =
      network_problem(parameters, {{"network", {training.learning_rate, training.weight_decay}}}, rows,
                      training, context.ranks, head.is_regression() ? "MSE" : "NLL");
  problem.mean_of_rows = !task.grid;  // of pixels the mean is over the labelled ones
  problem.trained_by = network.by_engine() ? "engine" : "libtorch";
  problem.buffers.insert(problem.buffers.begin(), how.buffers.begin(), how.buffers.end());
  // Few small operations beside the engine's pass; libtorch's path stays the plain reference.
  const bool closed = network.by_engine() && !weights.defined() && how.label_smoothing == 0 && !task.grid;
  problem.step = [&, closed](const Batch& batch, const StepContext& at) -> StepLoss {
    const at::Tensor output = network(input_of(batch), {true, at.stream, false, at.total});
    if (closed) {
      const LossGradient found = loss_gradient(head, output, batch.target.to(at::kFloat));
      output.backward(found.gradient);
      return found.loss;
    }
    at::Tensor loss = mean_loss(losses(output, batch.target.to(at::kFloat), how.label_smoothing));
    loss.backward();
    return loss;
  };
  if (how.after_epoch)
    problem.after_epoch = [&](const StepContext&) { how.after_epoch(parameters.values("network")); };
  if (held_out.size() > 0 && how.validates)
    problem.validate = [&] { return mean_over_rows(held_out, loss_of, context.ranks); };

  TrainedNetwork trained{spec, {}, head, {}};
  trained.summary =
      train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
  trained.summary.valid_rows = split.valid.size();
  trained.weights = snapshot(parameters);
  // Even a perfect fit of these rows does not prove that the noise is zero.
  if (head.is_regression())
    trained.head.noise_var =
        std::max(mean_over_rows(held_out.size() > 0 ? held_out : rows, loss_of, context.ranks),
                 1e-12 * task.encoded_sd * task.encoded_sd);
  return trained;
}

NetworkSpec trained_network_spec(const TrainedNetworkOptions& options, const Schema& schema) {
  return trained_network_spec(options, schema.input, schema.tokens, schema.task.outputs,
                              schema.task.grid.has_value());
}

TrainedNetwork trained_network(const ScriptNetwork& module, const Split& split, std::string_view method) {
  constexpr int64_t kVerified = 8;  // rows on which a module is checked
  const Dataset rows = training_rows(split.train, method),
                held_out = validation_rows(split.valid, rows, method);
  const Schema& schema = rows.schema;
  TrainedNetwork trained{{schema.input}, {}, head_of(schema.task), {}};
  trained.module = module;
  const int64_t k = module.weight().size(0);
  if (k != schema.task.outputs)
    refuse(method, fmt::format("a module with {} outputs", schema.task.outputs), fmt::format("{}", k),
           "a regression has one, classes one each; two classes may have one (bernoulli)");
  const Batch probe = rows.rows(at::arange(std::min(kVerified, rows.size())));
  trained.summary.notes = module.verified(input_of(probe, module.type()).x);
  trained.summary.rows = rows.size();
  trained.summary.valid_rows = split.valid.size();
  if (schema.task.kind != TaskKind::regression) return trained;
  const auto of_all = [](const Dataset& data, const std::function<at::Tensor(const Batch&)>& numbers) {
    std::vector<at::Tensor> parts;
    over_batches(data, {}, [&](const Batch& batch) { parts.push_back(numbers(batch).to(at::kDouble)); });
    return at::cat(parts);
  };
  const auto y = [](const Batch& batch) { return batch.target.to(at::kDouble); };
  const auto squared_error = [&](const Batch& batch) {
    return (module(input_of(batch, module.type()).x).output.squeeze(-1).to(at::kDouble) - y(batch)).square();
  };
  const at::Tensor targets = of_all(rows, y), of_rows = rows.weights();
  const double var = of_rows.defined()
                         ? weighted_mean((targets - weighted_mean(targets, of_rows)).square(), of_rows)
                         : at::var(targets, /*unbiased=*/false).item<double>();
  if (var > 0) trained.target_var = var;
  const Dataset& of_noise = held_out.size() > 0 ? held_out : rows;
  const double mse = weighted_mean(of_all(of_noise, squared_error), of_noise.weights());
  trained.head.noise_var = std::max(mse, 1e-12 * trained.target_var);
  return trained;
}

TrainedNetwork starting_network(const TrainedNetworkOptions& options, const Split& split,
                                const FitContext& context, std::string_view method, bool takes_modules) {
  const Schema& schema = split.train.schema;
  if (!context.start) {
    const NetworkSpec spec = trained_network_spec(options, schema);
    const auto train = [&] {
      return train_network(spec, split, {options.training, options.class_weights, options.label_smoothing},
                           context, method);
    };
    if (context.networks == nullptr) return train();
    return context.networks->trained(training_key(spec, options, split, context.stream, context.device),
                                     train);
  }
  const TrainedNetwork& start = *context.start;
  check(!start.module || takes_modules, method, "a network whose layers are known", "a TorchScript module",
        "bll, rich-bll and last-layer-laplace take it");
  const Shape given = start.module ? Shape{{start.module->weight().size(0)}} : output(start.spec);
  if (start.spec.input != schema.input)
    refuse(method, fmt::format("a network for rows like these, {}", text_of(schema.input)),
           fmt::format("one for {}", text_of(start.spec.input)), "start from a network of the same data");
  const auto& grid = schema.task.grid;
  const Shape wanted =
      grid ? Shape{{schema.task.outputs, grid->height, grid->width}} : Shape{{schema.task.outputs}};
  if (given != wanted)
    refuse(method,
           fmt::format("a network with {} outputs{}", schema.task.outputs, grid ? " for each pixel" : ""),
           text_of(given), "start from a network of the same task");
  if (start.head.likelihood != schema.task.likelihood)
    refuse(method,
           fmt::format("a network for {} ({})", name_of(schema.task.kind), name_of(schema.task.likelihood)),
           fmt::format("one for {} ({})", name_of(task_of(start.head.likelihood)),
                       name_of(start.head.likelihood)),
           "start from a network of the same task");
  TrainedNetwork taken = start;
  taken.summary.rows = split.train.size();  // rows of this fit; the network may have been trained on others
  return taken;
}

bool same_network(const TrainedNetwork& a, const TrainedNetwork& b) {
  if (a.module.has_value() != b.module.has_value()) return false;
  if (a.module)
    return a.module->last_layer() == b.module->last_layer() && a.module->archive() == b.module->archive();
  return to_json(a.spec) == to_json(b.spec) && same_but_statistics(a.weights, b.weights);
}

}  // namespace slimbayes
