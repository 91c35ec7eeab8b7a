#include <ATen/ATen.h>
#include <fmt/format.h>

#include <optional>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/dnn_options.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"
#include "slimbayes/methods/last_layer/rows.h"

// dnn: one network with one set of weights, the baseline for the other methods (paper N of
// docs/references.md, appendix B, "DNN").
//
// Model       y = network(x) with a linear head + noise of one variance; for classes the outputs of the head
//             are logits.
// Estimator   Mini-batch squared error. The parameters with the least validation MSE are kept, and this MSE
//             is the noise variance (without validation rows, the training MSE). For classes the loss is the
//             cross entropy.
// Deviations  The training recipe is in catalog/training_options.h. Weight decay also applies to the linear
//             head, because it has no prior, unlike the heads of methods with a posterior.
// Cost        O(b h^2) per step of b rows with h hidden units.
// When        As a baseline. There is no epistemic uncertainty: the epistemic variance and the mutual
//             information are 0.

namespace slimbayes {

namespace {

constexpr const char* kDnn = "dnn";

class DnnFitted : public Fitted {
 public:
  DnnFitted(const DnnOptions& options, TrainedNetwork trained)
      : options_(options),
        trained_(std::make_shared<TrainedNetwork>(std::move(trained))),
        network_(trained_->spec, "network", as_type(trained_->weights, at::kFloat)) {}

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    NetworkFile net = network_file(file);
    check_outputs(net.head, net.spec, kDnn);
    if (!(!net.head.is_regression() || net.head.noise_var > 0))
      refuse(kDnn, "a noise variance above 0", fmt::format("{}", net.head.noise_var),
             "the model file is damaged");
    TrainedNetwork trained{std::move(net.spec), std::move(net.weights), net.head, std::move(net.summary)};
    return std::make_unique<DnnFitted>(options_from_json<DnnOptions>(net.options, kDnn), std::move(trained));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    const bool here = options.device.is_cpu();
    if (const auto rows = here ? row_model() : nullptr; rows && are_rows(data))
      return predict_by_rows(*rows, data, trained_->spec.input, at::kFloat, options, kDnn);
    std::optional<BoundNetwork> moved;
    if (!here)
      moved.emplace(trained_->spec, "network",
                    as_type(trained_->weights, at::dtype(at::kFloat).device(options.device)));
    const BoundNetwork& network = moved ? *moved : network_;
    return predict_rows(data, trained_->spec.input, at::kFloat, options, kDnn, [&](const Input& input) {
      return trained_->head.answer(on_cpu(network(input)).to(at::kDouble));
    });
  }

  TensorFile save() const override {
    return to_file(NetworkFile{options_to_json(options_), trained_->head, trained_->spec, trained_->weights,
                               trained_->summary});
  }

  const Summary& summary() const override { return trained_->summary; }
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }

  std::optional<engine::RowSpec> row_spec() const override {
    if (!trained_->head.is_regression()) return {};
    auto features = last_layer_spec(*trained_, at::kFloat);
    if (!features) return {};
    return engine::RowSpec{engine::LinearRows{std::move(*features), {.noise_var = trained_->head.noise_var}}};
  }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    const Head& head = trained_->head;
    if (head.is_regression()) return row_spec();
    auto outputs = feature_spec(trained_->spec, "", 0, as_type(trained_->weights, at::kFloat), at::kFloat,
                                engine::FeaturesOf::outputs);
    if (outputs && head.is_classes()) return engine::ClassSpec{engine::KnownLogits{std::move(*outputs)}};
    return {};
  }

 private:
  DnnOptions options_;
  std::shared_ptr<const TrainedNetwork> trained_;
  BoundNetwork network_;  // float32, as trained
};

class DnnMethod : public Method {
 public:
  explicit DnnMethod(const DnnOptions& options) : options_(options) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    return std::make_unique<DnnFitted>(options_, starting_network(options_.network, split, context, kDnn));
  }

 private:
  DnnOptions options_;
};

std::unique_ptr<Method> make_dnn(const nlohmann::json& options) {
  return std::make_unique<DnnMethod>(options_from_json<DnnOptions>(options, kDnn));
}

std::unique_ptr<Fitted> load_dnn(const TensorFile& file) { return DnnFitted::load(file); }

}  // namespace

RegistryRow dnn_row() { return {"dnn", make_dnn, load_dnn}; }

}  // namespace slimbayes
