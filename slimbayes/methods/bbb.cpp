#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "slimbayes/bayes/mean_field.h"
#include "slimbayes/catalog/weight_space/bbb_options.h"
#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/families/weight_space/weight_draws.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/method/trained_network.h"

// bbb: Bayes by Backprop, a mean-field posterior over all weights (Blundell et al. 2015).
//
// Model       w ~ N(0, prior_sd^2) independently, y = network_w(x) + noise; classes: logits.
// Estimator   The evidence lower bound with independent Gaussians q(w). Each step draws one network:
//             -log p(y | w) / b + beta / n KL. The noise variance is trained. The parameters with the best
//             validation NLL are kept: that of at most 8 draws, since the network of the mean weights, whose
//             activations differ from the draws', is no measure of the answers.
// Cost        Twice dnn's per step, and up to 8 passes over the validation rows for each validation; a
//             prediction costs `draws` passes, the model file two networks.
// When        A baseline. The means are pulled towards zero, and small tables are underfitted.

namespace slimbayes {

namespace {

constexpr const char* kBbb = "bbb";
constexpr const char* kLogNoise = "log_noise";  // of a regression only
constexpr int64_t kValidationDraws = 8;         // of the weights, for a validation score

/// Returns the stream of draw s of the weights, the same for every model.
Stream draw_stream(int64_t s) { return Stream(0).split("draw").split(static_cast<uint64_t>(s)); }

class BbbFitted : public Fitted {
 public:
  BbbFitted(BbbOptions options, NetworkSpec spec, Weights weights, Summary summary)
      : options_(std::move(options)),
        spec_(std::move(spec)),
        weights_(std::move(weights)),
        summary_(std::move(summary)),
        shapes_(network_parameters(spec_, "network", "network", Stream(0))) {
    if (weights_.contains(kLogNoise)) {
      const at::Tensor theta = weights_.at(kLogNoise);
      check_shape(theta, {}, kBbb, kLogNoise);
      noise_var_ = NoiseVariance(options_.noise)(theta.to(at::kDouble).item<double>());
    }
    const Network::Lookup lookup = as_type(weights_, at::kFloat);
    for (const ParameterSpec& one : mean_field_parameters(shapes_, options_.start_sd, "spread"))
      check_shape(lookup(one.name), one.start.sizes(), kBbb, one.name);
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    const WeightDraws draws{spec_.input, options_.draws, [this](int64_t s) {
                              const Network network = draw(s);
                              return [network](const Input& rows) { return network(rows); };
                            }};
    return predict_by_draws(draws, noise_var_, data, options, kBbb);
  }

  TensorFile save() const override {
    return to_file(NetworkFile{options_to_json(options_), spec_, weights_, summary_});
  }

  const Summary& summary() const override { return summary_; }

 private:
  Network draw(int64_t s) const {
    at::NoGradGuard no_grad;
    return {spec_, "network", mean_field_draw(shapes_, as_type(weights_, at::kFloat), draw_stream(s))};
  }

  BbbOptions options_;
  NetworkSpec spec_;
  Weights weights_;
  Summary summary_;
  std::vector<ParameterSpec> shapes_;
  double noise_var_ = 0;  // 0 for classes
};

class BbbMethod : public Method {
 public:
  explicit BbbMethod(BbbOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset rows = training_rows(split.train, kBbb),
                  held_out = validation_rows(split.valid, rows, kBbb);
    const Schema& schema = rows.schema;
    const bool regression = schema.task.kind == TaskKind::regression;
    const NetworkSpec spec =
        trained_network_spec(options_.network, schema.input, schema.tokens, schema.task.outputs);
    const std::vector<ParameterSpec> shapes =
        network_parameters(spec, "network", "network", context.stream.split("start"));
    std::vector<ParameterSpec> all = mean_field_parameters(shapes, options_.start_sd, "spread");
    const NoiseVariance noise(options_.noise);
    if (regression) all.push_back({kLogNoise, "noise", at::full({}, noise.start(kBbb), at::kDouble)});
    const Parameters parameters(all, at::kFloat);
    const Network::Lookup lookup = [&](const std::string& name) { return parameters[name]; };

    // -log p(y | f), without the constant of the Gaussian.
    const auto loss_of = [&](const at::Tensor& output, const at::Tensor& y) {
      const at::Tensor loss = row_loss(schema.task, output, y);
      if (!regression) return loss;
      const at::Tensor var = noise(parameters[kLogNoise]);
      return 0.5 * (loss / var + var.log());
    };
    TrainProblem problem;
    problem.score = score_name(schema.task, "NLL");
    const TrainingOptions& training = options_.network.training;
    problem.groups = parameter_groups(parameters, {{"network", {training.learning_rate}},
                                                   {"spread", {training.learning_rate}},
                                                   {"noise", {options_.noise.noise_rate}}});
    if (parameters.has(kBuffers)) problem.buffers = {parameters.values(kBuffers)};
    problem.source = rows.source;
    problem.plan = batch_plan(rows, training);
    problem.rows = rows.size();
    const double kl_weight = options_.beta / static_cast<double>(rows.size());
    problem.step = [&](const Batch& batch, const StepContext& at) {
      const Network network(spec, "network", mean_field_draw(shapes, lookup, at.stream.split("weights")));
      const at::Tensor output = network(input_of(batch), {true, at.stream});
      at::Tensor loss = loss_of(output, batch.target.to(at::kFloat)).mean() +
                        kl_weight * mean_field_kl(shapes, lookup, options_.weight_prior_sd);
      loss.backward();
      return loss.item<double>();
    };
    if (held_out.size() > 0) {
      const at::Tensor y = targets_of(held_out);
      problem.validate = [&, y] {
        at::NoGradGuard no_grad;
        const double noise_var =
            regression ? noise(parameters[kLogNoise].detach().to(at::kDouble)).item<double>() : 0.0;
        const WeightDraws draws{spec.input, std::min(options_.draws, kValidationDraws), [&](int64_t s) {
                                  const Network network(spec, "network",
                                                        mean_field_draw(shapes, lookup, draw_stream(s)));
                                  return [network](const Input& rows) { return network(rows); };
                                }};
        return *mean_nll(predict_by_draws(draws, noise_var, held_out, {}, kBbb), y);
      };
    }
    Summary summary =
        train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = split.valid.size();
    return std::make_unique<BbbFitted>(options_, spec, snapshot(parameters), std::move(summary));
  }

 private:
  BbbOptions options_;
};

}  // namespace

std::unique_ptr<Method> make_bbb(const nlohmann::json& options) {
  return std::make_unique<BbbMethod>(options_from_json<BbbOptions>(options, kBbb));
}

std::unique_ptr<Fitted> load_bbb(const TensorFile& file) {
  NetworkFile net = network_file(file);
  return std::make_unique<BbbFitted>(options_from_json<BbbOptions>(net.options, kBbb), std::move(net.spec),
                                     std::move(net.weights), std::move(net.summary));
}

}  // namespace slimbayes
