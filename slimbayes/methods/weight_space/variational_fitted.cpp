#include "slimbayes/methods/weight_space/variational_fitted.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/weight_space/draw_stack.h"
#include "slimbayes/methods/weight_space/inducing/gradient_projection.h"

namespace slimbayes {

namespace {

constexpr const char* kPlan = "weight_plan";  // in the model file

class VariationalFitted : public Fitted {
 public:
  VariationalFitted(VariationalNetwork method, NetworkFile net, WeightPlan plan)
      : method_(std::move(method)),
        net_(std::move(net)),
        plan_(std::move(plan)),
        network_(net_.spec, "network"),
        weights_(weights_on(at::kCPU)),
        head_(net_.head) {
    if (can_stack(net_.spec, network_.layout(), plan_, weights_, method_.variational.draws))
      stack_.emplace(network_, weights_, method_.variational.draws);
    if (!head_.is_regression()) return;
    const at::Tensor theta = as_type(net_.weights, at::kDouble)(kLogNoise);
    check_shape(theta, {}, method_.method, kLogNoise);
    head_.noise_var = NoiseVariance(method_.variational.noise)(theta.item<double>());
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    if (options.device.is_cpu()) return answers(weights_, stack_, data, options);
    const WeightPosterior weights = weights_on(options.device);
    std::optional<DrawStack> stack;
    if (stack_) stack.emplace(network_, weights, method_.variational.draws);
    return answers(weights, stack, data, options);
  }

  Scores ood(const Dataset& data, const PredictOptions& options) const override {
    if (!head_.is_classes()) return {};
    const auto scores_of = [&](const WeightPosterior& weights) {
      return projection_scores({network_, weights, head_, net_.spec}, net_.weights, data, options);
    };
    return options.device.is_cpu() ? scores_of(weights_) : scores_of(weights_on(options.device));
  }

  std::vector<ProjectorFact> projectors() const override {
    return projection_facts(network_.layout(), net_.weights);
  }

  TensorFile save() const override {
    TensorFile file = to_file(net_);
    file.metadata[kPlan] = to_json(plan_).dump();
    return file;
  }

  const Summary& summary() const override { return net_.summary; }

  std::shared_ptr<const TrainedNetwork> network_of(int64_t draw) const override {
    const int64_t draws = method_.variational.draws;
    if (!(draw >= 0 && draw <= draws))
      refuse(method_.method, fmt::format("a draw from 1 to {}, or 0 for the centre", draws),
             fmt::format("{}", draw));
    at::NoGradGuard no_grad;
    const Binding binding = draw == 0 ? weights_.mean() : weights_.draw(draw_stream(draw - 1)).binding;
    return std::make_shared<const TrainedNetwork>(
        TrainedNetwork{net_.spec, dense_weights(network_.layout(), binding), head_, net_.summary});
  }

 private:
  WeightPosterior weights_on(at::Device device) const {
    return RandomWeights(network_.layout(), plan_)
        .bound(as_type(net_.weights, at::dtype(at::kFloat).device(device)));
  }

  /// Returns the answers of draws of `weights`, all at once by the stack if there is one.
  Predictive answers(const WeightPosterior& weights, const std::optional<DrawStack>& stack,
                     const Dataset& data, const PredictOptions& options) const {
    WeightDraws draws = draws_of(network_, weights, net_.spec.input, method_.variational.draws);
    if (stack) draws.together = [&stack](const Input& rows) { return (*stack)(rows); };
    return predict_by_draws(draws, head_, data, options, method_.method);
  }

  VariationalNetwork method_;
  NetworkFile net_;
  WeightPlan plan_;
  Network network_;
  WeightPosterior weights_;         // on the CPU
  Head head_;                       // with the trained noise
  std::optional<DrawStack> stack_;  // refers to network_ and weights_
};

}  // namespace

WeightDraws draws_of(const Network& network, const WeightPosterior& weights, const Shape& input,
                     int64_t draws) {
  return {input, draws, [&network, &weights](int64_t s) {
            at::NoGradGuard no_grad;
            return [&network, binding = weights.draw(draw_stream(s)).binding](const Input& rows) {
              return network(rows, binding);
            };
          }};
}

std::unique_ptr<Fitted> variational_fitted(VariationalNetwork method, NetworkFile net, WeightPlan plan) {
  return std::make_unique<VariationalFitted>(std::move(method), std::move(net), std::move(plan));
}

std::unique_ptr<Fitted> load_variational(VariationalNetwork network, const TensorFile& file) {
  NetworkFile net = network_file(file);
  check_outputs(net.head, net.spec, network.method);
  return variational_fitted(std::move(network), std::move(net),
                            weight_plan_from_json(stored_json(file, kPlan)));
}

RegistryRow variational_row(std::string_view name,
                            std::function<VariationalNetwork(const nlohmann::json& options)> of) {
  return {name, [of](const nlohmann::json& options) { return variational_method(of(options)); },
          [of](const TensorFile& file) { return load_variational(of(stored_json(file, "options")), file); }};
}

}  // namespace slimbayes
