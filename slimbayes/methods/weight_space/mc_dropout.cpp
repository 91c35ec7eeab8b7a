#include <ATen/ATen.h>

#include <optional>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/weight_space/mc_dropout_options.h"
#include "slimbayes/methods/weight_space/rows.h"
#include "slimbayes/methods/weight_space/weight_draws.h"

// mc-dropout: dropout in prediction (Gal and Ghahramani 2016).
//
// Model       A mixture over masks of the dropout layers: each draw of the masks gives one network. The
//             spread of the networks is the epistemic part. All rows have one noise variance.
// Estimator   The network is trained as in dnn, with dropout. The noise variance is the value with the least
//             validation NLL (without validation rows, training NLL).
// Cost        dnn's; a prediction costs `draws` passes.
// Deviations  All rows share the masks of a draw, so that the answer to a row does not depend on its batch.
// When        As a baseline for networks that use dropout anyway. The spread depends on the dropout rate, not
//             on the amount of data.

namespace slimbayes {

namespace {

constexpr const char* kMcDropout = "mc-dropout";

BoundNetwork bound_on(const TrainedNetwork& trained, at::Device device) {
  return {trained.spec, "network", as_type(trained.weights, at::dtype(at::kFloat).device(device))};
}

/// Returns `draws` draws of the dropout masks, each a network. `network` must outlive the result.
WeightDraws mask_draws(const BoundNetwork& network, const Shape& input, int64_t draws) {
  return {input, draws, [&network](int64_t s) {
            ForwardContext context;
            context.stream = Stream(0).split("mask").split(static_cast<uint64_t>(s));
            context.dropout_draw = true;
            return [&network, context](const Input& rows) { return network(rows, context); };
          }};
}

class McDropoutFitted : public Fitted {
 public:
  /// `noise_var` is the noise variance of the answers, which noise_of_draws estimated; 0 for classes.
  McDropoutFitted(McDropoutOptions options, TrainedNetwork trained, double noise_var)
      : options_(std::move(options)),
        trained_(std::make_shared<TrainedNetwork>(std::move(trained))),
        head_(trained_->head),
        network_(bound_on(*trained_, at::kCPU)) {
    head_.noise_var = noise_var;
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    std::optional<BoundNetwork> moved;
    if (!options.device.is_cpu()) moved.emplace(bound_on(*trained_, options.device));
    const BoundNetwork& network = moved ? *moved : network_;
    return predict_by_draws(mask_draws(network, trained_->spec.input, options_.draws), head_, data, options,
                            kMcDropout);
  }

  TensorFile save() const override {
    Weights all = trained_->weights;
    if (head_.is_regression()) store_noise(head_.noise_var, all);
    return to_file(NetworkFile{options_to_json(options_), trained_->head, trained_->spec, std::move(all),
                               trained_->summary});
  }

  const Summary& summary() const override { return trained_->summary; }
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }
  NetworkUse network_use() const override { return NetworkUse::averaged; }

 private:
  McDropoutOptions options_;
  std::shared_ptr<const TrainedNetwork> trained_;
  Head head_;             // for the answers; the noise of trained_->head is that of a single network
  BoundNetwork network_;  // on the CPU
};

class McDropoutMethod : public Method {
 public:
  explicit McDropoutMethod(McDropoutOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    check(context.start || options_.network.network.dropout > 0, kMcDropout, "a dropout above 0", "0",
          "0.1 is usual");
    TrainedNetwork trained = starting_network(options_.network, split, context, kMcDropout);
    check(has_layer<Dropout>(trained.spec), kMcDropout, "a network with dropout layers", "one without",
          "fit that network with `.dropout=0.1`");
    double noise_var = 0;
    if (trained.head.is_regression()) {
      const BoundNetwork network = bound_on(trained, context.device);
      noise_var = noise_of_draws(mask_draws(network, trained.spec.input, options_.draws),
                                 rows_of_noise(split.valid, split.train, context), kMcDropout);
    }
    return std::make_unique<McDropoutFitted>(options_, std::move(trained), noise_var);
  }

 private:
  McDropoutOptions options_;
};

std::unique_ptr<Method> make_mc_dropout(const nlohmann::json& options) {
  return std::make_unique<McDropoutMethod>(options_from_json<McDropoutOptions>(options, kMcDropout));
}

std::unique_ptr<Fitted> load_mc_dropout(const TensorFile& file) {
  NetworkFile net = network_file(file);
  check_outputs(net.head, net.spec, kMcDropout);
  const double noise_var = stored_noise(net.weights, net.head, kMcDropout);
  TrainedNetwork trained{std::move(net.spec), network_weights(net.weights), net.head, std::move(net.summary)};
  return std::make_unique<McDropoutFitted>(options_from_json<McDropoutOptions>(net.options, kMcDropout),
                                           std::move(trained), noise_var);
}

}  // namespace

RegistryRow mc_dropout_row() { return {"mc-dropout", make_mc_dropout, load_mc_dropout}; }

}  // namespace slimbayes
