#include "slimbayes/families/weight_space/variational_fitted.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/core/stored.h"

namespace slimbayes {

namespace {

constexpr const char* kPlan = "weight_plan";  // in the model file

/// Returns the random stream for draw s of the weights in validation and prediction. It is the same for every
/// model, so that equal parameters give equal answers.
Stream draw_stream(int64_t s) { return Stream(0).split("draw").split(static_cast<uint64_t>(s)); }

class VariationalFitted : public Fitted {
 public:
  VariationalFitted(VariationalNetwork method, NetworkFile net, WeightPlan plan)
      : method_(std::move(method)),
        net_(std::move(net)),
        plan_(std::move(plan)),
        network_(net_.spec, "network"),
        weights_(RandomWeights(network_.layout(), plan_).bound(as_type(net_.weights, at::kFloat))),
        head_(net_.head) {
    if (!head_.is_regression()) return;
    const at::Tensor theta = as_type(net_.weights, at::kDouble)(kLogNoise);
    check_shape(theta, {}, method_.method, kLogNoise);
    head_.noise_var = NoiseVariance(method_.variational.noise)(theta.item<double>());
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_by_draws(draws_of(network_, weights_, net_.spec.input, method_.variational.draws), head_,
                            data, options, method_.method);
  }

  TensorFile save() const override {
    TensorFile file = to_file(net_);
    file.metadata[kPlan] = to_json(plan_).dump();
    return file;
  }

  const Summary& summary() const override { return net_.summary; }

 private:
  VariationalNetwork method_;
  NetworkFile net_;
  WeightPlan plan_;
  Network network_;
  WeightPosterior weights_;
  Head head_;  // with the trained noise
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

}  // namespace slimbayes
