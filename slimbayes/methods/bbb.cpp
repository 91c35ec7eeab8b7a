#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/catalog/weight_space/bbb_options.h"
#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/families/weight_space/weight_draws.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/network_problem.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/train/schedule.h"
#include "slimbayes/train/training_plan.h"

// bbb: Bayes by Backprop, a mean-field posterior over the weights (Blundell et al. 2015).
//
// Model       w ~ N(0, prior_sd^2) independently, y = network_w(x) + noise; for classes the outputs are
//             logits.
// Estimator   The evidence lower bound with independent Gaussians q(w) (bayes/mean_field.cpp). Each step
//             draws one network w for its b rows; its loss is -log p(y | w) / b + beta / n KL. The options
//             kl_zero and kl_ramp raise the weight of the KL over the epochs (train/schedule.h). The noise
//             variance is trained. The parameters with the best validation NLL of at most 8 draws are kept.
//             The network of the mean weights is not used for this score: its activations differ from those
//             of the draws.
// Random      Every matrix and every bias. The scales and shifts of norms and the positions of tokens are
//             deterministic: a prior with mean 0 would pull the scales, and so the layer's output, to 0.
// Cost        Twice dnn's per step, and up to 8 passes over the validation rows for each validation. A
//             prediction costs `draws` passes; the model file is as large as two networks.
// When        As a baseline. The prior pulls the means towards zero, so small tables are underfitted.

namespace slimbayes {

namespace {

constexpr const char* kBbb = "bbb";
constexpr const char* kPlan = "weight_plan";    // in the model file
constexpr const char* kLogNoise = "log_noise";  // only for a regression
constexpr int64_t kValidationDraws = 8;         // draws of the weights for one validation score

/// Returns the random stream for draw s of the weights in validation and prediction. It is the same for every
/// model, so that equal parameters give equal answers.
Stream draw_stream(int64_t s) { return Stream(0).split("draw").split(static_cast<uint64_t>(s)); }

/// Returns `draws` draws of the network's weights, each a network. `network` and `weights` must outlive the
/// result.
WeightDraws draws_of(const Network& network, const WeightPosterior& weights, const Shape& input,
                     int64_t draws) {
  return {input, draws, [&network, &weights](int64_t s) {
            at::NoGradGuard no_grad;
            return [&network, binding = weights.draw(draw_stream(s)).binding](const Input& rows) {
              return network(rows, binding);
            };
          }};
}

class BbbFitted : public Fitted {
 public:
  BbbFitted(BbbOptions options, NetworkFile net, WeightPlan plan)
      : options_(std::move(options)),
        net_(std::move(net)),
        plan_(std::move(plan)),
        network_(net_.spec, "network"),
        weights_(RandomWeights(network_.layout(), plan_).bound(as_type(net_.weights, at::kFloat))),
        head_(net_.head) {
    if (!head_.is_regression()) return;
    const at::Tensor theta = as_type(net_.weights, at::kDouble)(kLogNoise);
    check_shape(theta, {}, kBbb, kLogNoise);
    head_.noise_var = NoiseVariance(options_.noise)(theta.item<double>());
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_by_draws(draws_of(network_, weights_, net_.spec.input, options_.draws), head_, data,
                            options, kBbb);
  }

  TensorFile save() const override {
    TensorFile file = to_file(net_);
    file.metadata[kPlan] = to_json(plan_).dump();
    return file;
  }

  const Summary& summary() const override { return net_.summary; }

 private:
  BbbOptions options_;
  NetworkFile net_;
  WeightPlan plan_;
  Network network_;
  WeightPosterior weights_;
  Head head_;  // with the trained noise variance
};

class BbbMethod : public Method {
 public:
  explicit BbbMethod(BbbOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset rows = training_rows(split.train, kBbb),
                  held_out = validation_rows(split.valid, rows, kBbb);
    const Schema& schema = rows.schema;
    const Head head = head_of(schema.task);
    const NetworkSpec spec =
        trained_network_spec(options_.network, schema.input, schema.tokens, schema.task.outputs);
    const Network network(spec, "network");
    const RandomWeights random(network.layout(),
                               plan_for_all(network.layout(), {.prior = NormalPrior{options_.weight_prior_sd},
                                                               .start_scale = options_.start_sd}));
    const Parameters parameters = started(random, head, context.stream.split("start"));
    const WeightPosterior weights = random.bound([&](const std::string& name) { return parameters[name]; });

    const TrainingOptions& training = options_.network.training;
    TrainProblem problem = network_problem(parameters,
                                           {{"network", {training.learning_rate}},
                                            {"spread", {training.learning_rate}},
                                            {"noise", {options_.noise.noise_rate}}},
                                           rows, training);
    const KlSchedule schedule{options_.kl_zero, options_.kl_ramp};
    const int64_t epochs = training_plan(training, rows.size(), problem.plan).epochs;
    check(schedule.select_from() <= epochs, kBbb,
          fmt::format("kl_zero and kl_ramp of together at most the {} epochs of this fit", epochs),
          fmt::format("{} and {}", options_.kl_zero, options_.kl_ramp),
          "lower them, or raise --epochs or --steps");
    double kl_weight = 0;
    problem.select_from = schedule.select_from();
    problem.before_epoch = [&](const EpochContext& at) {
      kl_weight = schedule.weight(at.epoch) * options_.beta / static_cast<double>(rows.size());
    };
    problem.step = [&](const Batch& batch, const StepContext& at) {
      const Input input = input_of(batch);
      const WeightDraw draw = weights.draw(at.stream.split("weights"), {tokens_of(input.x)});
      const at::Tensor output = network(input, draw.binding, {true, at.stream});
      at::Tensor loss = negative_log_density(head, parameters, output, batch.target.to(at::kFloat)).mean() +
                        kl_weight * weights.kl(draw);
      loss.backward();
      return loss.item<double>();
    };
    if (held_out.size() > 0) {
      const at::Tensor y = targets_of(held_out);
      problem.validate = [&, y] {
        at::NoGradGuard no_grad;
        Head now = head;
        if (head.is_regression())
          now.noise_var = noise_var(parameters[kLogNoise].detach().to(at::kDouble)).item<double>();
        const WeightDraws draws =
            draws_of(network, weights, spec.input, std::min(options_.draws, kValidationDraws));
        return *mean_nll(predict_by_draws(draws, now, held_out, {}, kBbb), y);
      };
    }
    Summary summary =
        train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = split.valid.size();
    return std::make_unique<BbbFitted>(
        options_,
        NetworkFile{options_to_json(options_), head, spec, snapshot(parameters), std::move(summary)},
        random.plan());
  }

 private:
  at::Tensor noise_var(const at::Tensor& theta) const { return NoiseVariance(options_.noise)(theta); }

  Parameters started(const RandomWeights& random, const Head& head, const Stream& stream) const {
    std::vector<ParameterSpec> all = random.parameters(stream);
    const NoiseVariance noise(options_.noise);
    if (head.is_regression())
      all.push_back({kLogNoise, "noise", at::full({}, noise.start(kBbb), at::kDouble)});
    return {all, at::kFloat};
  }

  /// Returns -log p(y | output) of each row. A regression omits the Gaussian's constant, log(2 pi) / 2. [b]
  at::Tensor negative_log_density(const Head& head, const Parameters& parameters, const at::Tensor& output,
                                  const at::Tensor& y) const {
    const at::Tensor loss = head.loss(output, y);
    if (!head.is_regression()) return loss;
    const at::Tensor var = noise_var(parameters[kLogNoise]);
    return 0.5 * (loss / var + var.log());
  }

  BbbOptions options_;
};

}  // namespace

std::unique_ptr<Method> make_bbb(const nlohmann::json& options) {
  return std::make_unique<BbbMethod>(options_from_json<BbbOptions>(options, kBbb));
}

std::unique_ptr<Fitted> load_bbb(const TensorFile& file) {
  NetworkFile net = network_file(file);
  check_outputs(net.head, net.spec, kBbb);
  auto options = options_from_json<BbbOptions>(net.options, kBbb);
  return std::make_unique<BbbFitted>(std::move(options), std::move(net),
                                     weight_plan_from_json(stored_json(file, kPlan)));
}

}  // namespace slimbayes
