#include <ATen/ATen.h>

#include "slimbayes/catalog/dnn_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/families/batches.h"
#include "slimbayes/families/method.h"
#include "slimbayes/families/network_file.h"
#include "slimbayes/families/parameter_groups.h"
#include "slimbayes/nn/weights.h"

// dnn: the plain network, the baseline for the other methods (N appendix B, "DNN").
//
// Model       y = network(x) with a linear head + noise of one variance; for classes the outputs of the head
//             are logits.
// Estimator   Mini-batch squared error. The epoch with the least validation MSE is kept, and that MSE is the
//             noise variance (the training MSE if there are no validation rows). For classes, the cross
//             entropy takes its place.
// Deviations  The training recipe is in catalog/training_options.h. Weight decay applies to the linear head
//             too: it has no prior of its own, unlike the heads of the methods with a posterior.
// Cost        O(b h^2) per step.
// The method has no epistemic uncertainty: the epistemic variance and the mutual information are 0.

namespace slimbayes {

namespace {

constexpr const char* kDnn = "dnn";
constexpr const char* kNoise = "noise_var";  // in the model file of a regression only

NetworkSpec network_spec(const DnnOptions& options, const Schema& schema) {
  NetworkSpec spec = network_for(options.network, schema.input, schema.tokens);
  spec.layers.push_back(Linear{schema.task.outputs});
  return spec;
}

class DnnFitted : public Fitted {
 public:
  DnnFitted(const DnnOptions& options, NetworkSpec spec, Weights weights, Summary summary)
      : options_(options),
        spec_(std::move(spec)),
        weights_(std::move(weights)),
        summary_(std::move(summary)),
        network_(spec_, "network", as_type(weights_, at::kFloat)) {
    if (weights_.contains(kNoise)) noise_var_ = as_type(weights_, at::kDouble)(kNoise);
    const Shape out = output(spec_);
    check(out.is_vector() && (classifies() || out.width() == 1), kDnn,
          "a network that ends in its outputs, one of a regression", text_of(out),
          "the model file is damaged");
    if (!classifies()) check_shape(noise_var_, {}, kDnn, kNoise);
  }

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    NetworkFile net = network_file(file);
    return std::make_unique<DnnFitted>(options_from_json<DnnOptions>(net.options, kDnn), std::move(net.spec),
                                       std::move(net.weights), std::move(net.summary));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, spec_.input, at::kFloat, options, kDnn,
                        [this](const Input& input) -> Predictive {
                          const at::Tensor output = network_(input).to(at::kDouble);
                          if (classifies()) return classes_of_logits(output);
                          const at::Tensor mean = output.squeeze(-1);
                          return Regression{mean, noise_var_.expand_as(mean), at::zeros_like(mean)};
                        });
  }

  TensorFile save() const override {
    return to_file(NetworkFile{options_to_json(options_), spec_, weights_, summary_});
  }

  const Summary& summary() const override { return summary_; }

 private:
  bool classifies() const { return !noise_var_.defined(); }

  DnnOptions options_;
  NetworkSpec spec_;
  Weights weights_;
  Summary summary_;
  Network network_;       // float32, as trained
  at::Tensor noise_var_;  // scalar; undefined for classes, whose outputs are logits
};

/// Returns the loss of each row: the squared error, or the cross entropy of the class, with one logit for two
/// classes or one logit per class. [b]
at::Tensor row_loss(const Task& task, const at::Tensor& output, const at::Tensor& y) {
  if (task.kind == TaskKind::regression) return (output.squeeze(-1) - y).square();
  if (task.outputs == 1)
    return at::binary_cross_entropy_with_logits(output.squeeze(-1), y, {}, {}, at::Reduction::None);
  return at::nll_loss(at::log_softmax(output, -1), y.to(at::kLong), {}, at::Reduction::None);
}

class DnnMethod : public Method {
 public:
  explicit DnnMethod(const DnnOptions& options) : options_(options) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset rows = training_data(split.train, kDnn),
                  held_out = validation_data(split.valid, rows, kDnn);
    const Task& task = split.train.schema.task;
    const bool regression = task.kind == TaskKind::regression;
    NetworkSpec spec = network_spec(options_, rows.schema);
    Parameters parameters(network_parameters(spec, "network", "network", context.stream.split("start")),
                          at::kFloat);
    Network network(spec, "network", [&](const std::string& name) { return parameters[name]; });
    const auto loss_of = [&](const Input& input, const at::Tensor& y) {
      return row_loss(task, network(input), y);
    };

    TrainProblem problem;
    problem.groups = parameter_groups(
        parameters, {{"network", {options_.training.learning_rate, options_.training.weight_decay}}});
    if (parameters.has(kBuffers)) problem.buffers = {parameters.values(kBuffers)};
    problem.source = rows.source;
    problem.plan = batch_plan(rows, options_.training);
    problem.rows = rows.size();
    problem.score = regression ? "standardised validation MSE" : "validation NLL";
    problem.step = [&](const Batch& batch, const StepContext& at) {
      const at::Tensor output = network(input_of(batch), {true, at.stream});
      at::Tensor loss = row_loss(task, output, batch.target.to(at::kFloat)).mean();
      loss.backward();
      return loss.item<double>();
    };
    if (held_out.size() > 0) problem.validate = [&] { return mean_over_rows(held_out, loss_of); };

    Summary summary = train(problem, options_.training, context.stream.split("train"), context.callback,
                            context.checkpoint);
    summary.valid_rows = split.valid.size();
    Weights weights = snapshot(parameters);
    if (regression) {
      // Even a perfect fit of these rows does not show that the noise is zero.
      const double noise = std::max(mean_over_rows(held_out.size() > 0 ? held_out : rows, loss_of), 1e-12);
      weights[kNoise] = at::full({}, noise, at::kDouble);
    }
    return std::make_unique<DnnFitted>(options_, std::move(spec), std::move(weights), std::move(summary));
  }

 private:
  DnnOptions options_;
};

}  // namespace

std::unique_ptr<Method> make_dnn(const nlohmann::json& options) {
  return std::make_unique<DnnMethod>(options_from_json<DnnOptions>(options, kDnn));
}

std::unique_ptr<Fitted> load_dnn(const TensorFile& file) { return DnnFitted::load(file); }

}  // namespace slimbayes
