#include "slimbayes/methods/weight_space/variational_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "slimbayes/answers/pixels.h"
#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/class_weights.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/network_problem.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/weight_space/inducing/gradient_projection.h"
#include "slimbayes/methods/weight_space/token_counts.h"
#include "slimbayes/methods/weight_space/variational_fitted.h"
#include "slimbayes/methods/weight_space/weight_draws.h"
#include "slimbayes/train/schedule.h"
#include "slimbayes/train/sharpness_aware.h"
#include "slimbayes/train/training_plan.h"

// Networks with random weights, trained on the evidence lower bound.
//
// Model       The weights w have a prior, independent for every random number (bayes/), and
//             y = network_w(x) + noise. For classes the outputs are logits, for counts the log rate.
// Estimator   A distribution q(w) as the plan of the method says. Each step draws one network for its
//             batch of b rows and follows the gradient of -log p(y | w) / b + beta / n KL(q || prior). For
//             segmentation b and n count labelled pixels, as if the pixels of an image were independent.
//             kl_zero and kl_ramp raise the weight of the KL over the epochs. The noise variance is
//             trained. The parameters with the best validation NLL of at most 8 draws are kept, without
//             the KL and only after it has its full weight. The network of the mean weights is not used
//             for this score: its activations differ from those of the draws.
// Text        A step draws the rows of the batch's tokens only, and weights the KL of each row so that an
//             epoch counts it once (token_counts.h). The rows of tokens that training lacks are set to the
//             prior: otherwise they would keep their small initial sd, and unknown words would look certain.

namespace slimbayes {

namespace {

constexpr int64_t kValidationDraws = 8;  // draws of the weights for one validation score
constexpr double kUniformStart = 0.2;

/// Returns the size of the vocabulary of the network's embedding; 0 if it has none.
int64_t vocabulary_of(const NetworkLayout& layout) {
  for (const MapSite& site : layout.sites)
    if (site.use == MapUse::rows) return site.out;
  return 0;
}

/// Returns -log p(y | f) of each row. A regression omits the constant of the Gaussian. `noise` is undefined
/// for other tasks. `smoothing` as in Head::loss().
at::Tensor negative_log_density(const Head& head, const at::Tensor& noise, const at::Tensor& output,
                                const at::Tensor& y, double smoothing) {
  const at::Tensor loss = head.loss(output, y, smoothing);
  return head.is_regression() ? 0.5 * (loss / noise + noise.log()) : loss;
}

/// One fit: the network, the distribution over its weights, and the training problem with its steps.
class VariationalFit {
 public:
  VariationalFit(const VariationalNetwork& method, const Split& split, NetworkSpec spec,
                 const FitContext& context, const TrainedNetwork* trained)
      : method_(method),
        rows_(training_rows(split.train, method.method, context.device)),
        class_weights_(
            class_weights(method.variational.network.class_weights, rows_, method.method, context.ranks)),
        held_out_(validation_rows(split.valid, rows_, method.method)),
        head_(head_of(rows_.schema.task)),
        spec_(std::move(spec)),
        network_(spec_, "network"),
        random_(network_.layout(), method.plan(network_.layout())),
        parameters_(started(context.stream.split("start"), trained)),
        weights_(random_.bound([this](const std::string& name) { return parameters_[name]; })) {
    check_label_smoothing(method.variational.network.label_smoothing, rows_.schema.task, method.method);
    if (head_.is_classes() && !rows_.schema.task.grid && !method.ood_layers.empty())
      key_sites_ = key_sites(spec_, network_.layout(), random_.plan(), method.ood_layers);
    if (!weights_.has_tokens()) return;
    tokens_.emplace(rows_, vocabulary_of(network_.layout()));
    weights_.rows_to_prior(on_device(tokens_->unseen(), rows_.device()));
  }

  Summary train(const FitContext& context) {
    const TrainingOptions& training = method_.variational.network.training;
    TrainProblem problem = network_problem(parameters_,
                                           {{"network", {training.learning_rate}},
                                            {"spread", {training.learning_rate}},
                                            {"noise", {method_.variational.noise.noise_rate}}},
                                           rows_, training, context.ranks);
    problem.mean_of_rows = !rows_.schema.task.grid && !tokens_;  // the KL of tokens depends on the batch
    KlSchedule schedule{method_.variational.kl_zero, method_.variational.kl_ramp};
    const int64_t epochs = training_plan(training, rows_.size(), problem.plan).epochs;
    const int64_t rising = schedule.select_from();
    if (method_.shortens_kl) schedule = shortened(schedule, epochs);
    if (!(schedule.select_from() <= epochs))
      refuse(method_.method,
             fmt::format("kl_zero and kl_ramp of together at most the {} epochs of this fit", epochs),
             fmt::format("{} and {}", schedule.zero, schedule.ramp),
             "lower them, or raise `.epochs` or `.steps`");
    problem.select_from = schedule.select_from();
    const double targets = labelled_rows(rows_);
    problem.before_epoch = [&, targets](const EpochContext& at) {
      kl_weight_ = schedule.weight(at.epoch) * method_.variational.beta / targets;
      if (tokens_) tokens_->count(at.batches);
    };
    problem.step = [this](const Batch& batch, const StepContext& at) { return step(batch, at); };
    problem.sharpness = method_.sharpness;
    problem.sharp_groups = {"network"};
    if (held_out_.size() > 0) problem.validate = [this] { return validation_nll(); };
    Summary summary = slimbayes::train(problem, training, context.stream.split("train"), context.callback,
                                       context.checkpoint);
    summary.valid_rows = held_out_.size();
    if (schedule.select_from() < rising && schedule.select_from() > 0)
      summary.notes.push_back(fmt::format(
          "of the fit's {} epochs, {} have no KL term, which then rises over {} (`.kl_zero` and `.kl_ramp`, "
          "shortened in proportion)",
          epochs, schedule.zero, schedule.ramp));
    return summary;
  }

  std::unique_ptr<Fitted> fitted(Summary summary, const FitContext& context) const {
    const std::string note = method_.note
                                 ? method_.note({network_.layout(), random_.plan(), weights_,
                                                 labelled_rows(rows_), rows_.schema.task.grid.has_value()})
                                 : "";
    if (!note.empty()) summary.notes.push_back(note);
    summary.jitter = std::max(summary.jitter, weights_.jitter());
    Weights all = snapshot(parameters_);
    all.merge(projection_statistics({network_, weights_, head_, spec_}, key_sites_, rows_,
                                    context.stream.split("ood"), context.ranks));
    return variational_fitted(method_,
                              NetworkFile{method_.options, head_, spec_, std::move(all), std::move(summary)},
                              random_.plan());
  }

 private:
  Parameters started(const Stream& stream, const TrainedNetwork* trained) const {
    Binding::Lookup from;
    if (trained != nullptr) from = as_type(trained->weights, at::kDouble);
    std::vector<ParameterSpec> all = random_.parameters(stream, from);
    if (method_.start == VariationalNetwork::Start::uniform) {
      for (size_t i = 0; i + 1 < all.size(); ++i) {
        if (all[i + 1].group != "spread") continue;  // only locations have a spread, which follows them
        const Stream own = stream.split("uniform").split(all[i].name);
        all[i].start = kUniformStart * (2 * own.uniform(all[i].start.sizes()) - 1);
      }
    }
    if (head_.is_regression())
      all.push_back(
          {kLogNoise, "noise",
           at::full({}, NoiseVariance(method_.variational.noise).start(method_.method), at::kDouble)});
    return {all, at::dtype(at::kFloat).device(rows_.device())};
  }

  /// Returns the trained noise variance; undefined for other tasks than regression.
  at::Tensor noise() const {
    if (!head_.is_regression()) return {};
    return NoiseVariance(method_.variational.noise)(parameters_[kLogNoise]);
  }

  StepLoss step(const Batch& batch, const StepContext& at) {
    const Input input = input_of(batch);
    const at::Tensor tokens = tokens_ ? tokens_of(input.x) : at::Tensor();
    const WeightDraw draw = weights_.draw(at.stream.split("weights"), {tokens, method_.local});
    const at::Tensor output = network_(input, draw.binding, {true, at.stream, false, at.total});
    const Labelled rows = labelled(output, batch.target.to(at::kFloat));
    const double smoothing = method_.variational.network.label_smoothing;
    at::Tensor loss = mean_loss(weighted(negative_log_density(head_, noise(), rows.output, rows.y, smoothing),
                                         rows.y, class_weights_));
    if (kl_weight_ > 0)
      loss = loss + kl_weight_ * weights_.kl(draw, {tokens_ ? tokens_->row_weights(tokens) : at::Tensor()});
    loss.backward();
    return loss;
  }

  double validation_nll() const {
    at::NoGradGuard no_grad;
    Head now = head_;
    if (head_.is_regression()) now.noise_var = noise().to(at::kDouble).item<double>();
    const WeightDraws draws =
        draws_of(network_, weights_, spec_.input, std::min(method_.variational.draws, kValidationDraws));
    const auto answer = [&](const Dataset& rows) {
      return predict_by_draws(draws, now, rows, {}, method_.method);
    };
    return *nll_of_answers(held_out_, answer, on_cpu(class_weights_));
  }

  const VariationalNetwork& method_;
  Dataset rows_;
  at::Tensor class_weights_;  // [C]; undefined: every row counts once
  Dataset held_out_;
  Head head_;
  NetworkSpec spec_;
  Network network_;
  RandomWeights random_;
  Parameters parameters_;
  WeightPosterior weights_;
  std::optional<TokenCounts> tokens_;   // of the training rows; only for a random embedding
  double kl_weight_ = 0;                // of this epoch, per row
  std::vector<std::string> key_sites_;  // of the out-of-distribution score
};

class VariationalMethod : public Method {
 public:
  explicit VariationalMethod(VariationalNetwork method) : method_(std::move(method)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const bool trained = method_.start == VariationalNetwork::Start::trained;
    return trained ? fit_around(split, context) : fit_from(split, context, nullptr);
  }

 private:
  std::unique_ptr<Fitted> fit_from(const Split& split, const FitContext& context,
                                   const TrainedNetwork* trained) const {
    const Schema& schema = split.train.schema;
    VariationalFit fit(
        method_, split,
        trained != nullptr ? trained->spec : trained_network_spec(method_.variational.network, schema),
        context, trained);
    Summary summary = fit.train(context);
    return fit.fitted(std::move(summary), context);
  }

  /// Takes or trains the network that the weights start from, then trains the distribution. A killed fit that
  /// resumes does not repeat a finished first training.
  std::unique_ptr<Fitted> fit_around(const Split& split, const FitContext& context) const {
    const auto train_first = [&](size_t, const JobContext& job) {
      return starting_network(method_.variational.network, split,
                              part_of(context, context.stream.split("network"), job), method_.method);
    };
    const auto save = [&](const TrainedNetwork& first) {
      return to_file(NetworkFile{method_.options, first.head, first.spec, first.weights, first.summary});
    };
    const auto load = [](size_t, const TensorFile& file) {
      NetworkFile net = network_file(file);
      return TrainedNetwork{std::move(net.spec), std::move(net.weights), net.head, std::move(net.summary)};
    };
    // The second training starts from the first: two jobs, one after the other.
    Jobs<TrainedNetwork> jobs(
        plan_of(context, method_.method, [](size_t i) { return fmt::format("{}/2", i + 1); }),
        {train_first, save, load,
         [](const TrainedNetwork& first) { return first.summary.stopped != Stopped::interrupted; }});
    jobs.begin();
    const TrainedNetwork first = jobs.take(0).value();
    if (first.summary.stopped == Stopped::interrupted) return untrained(split, context, first);
    if (context.callback) context.callback->stage("2/2");
    return fit_from(split, part_of(context, context.stream, {jobs.part(1), context.callback, {}}), &first);
  }

  /// Returns the model of a fit that was interrupted in its first training: the distribution at its start,
  /// around the network so far, with the network's noise.
  std::unique_ptr<Fitted> untrained(const Split& split, const FitContext& context,
                                    const TrainedNetwork& first) const {
    VariationalNetwork method = method_;
    NoiseOptions& noise = method.variational.noise;
    noise.noise_start = std::max(first.head.noise_var, 2 * noise.noise_floor);
    const VariationalFit fit(method, split, first.spec, context, &first);
    return fit.fitted(first.summary, context);
  }

  VariationalNetwork method_;
};

}  // namespace

Prior prior_of(const VariationalOptions& options) {
  if (options.prior == "normal") return NormalPrior{options.weight_prior_sd};
  return MixturePrior{.wide = options.weight_prior_sd, .narrow = options.narrow_prior_sd};
}

WeightPlan independent_plan(const NetworkLayout& layout, const VariationalOptions& options,
                            const std::string& law) {
  WeightPlan plan =
      plan_for_all(layout, {.law = law, .prior = prior_of(options), .start_scale = options.start_sd});
  if (options.random_biases) return plan;
  const auto is_matrix = [&](const std::string& name) {
    return std::ranges::find(layout.sites, name, &MapSite::name) != layout.sites.end();
  };
  std::erase_if(plan.sites, [&](const auto& site) { return !is_matrix(site.first); });
  return plan;
}

std::unique_ptr<Method> variational_method(VariationalNetwork network) {
  return std::make_unique<VariationalMethod>(std::move(network));
}

}  // namespace slimbayes
