#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/class_weights.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/method/laplace_posterior.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/methods/plain/logistic_fit.h"
#include "slimbayes/methods/plain/logistic_left_out.h"
#include "slimbayes/methods/plain/logistic_rows.h"
#include "slimbayes/methods/plain/plain_options.h"
#include "slimbayes/methods/plain/rows.h"

// logistic: a Bayesian logistic regression (MacKay 1992; Boehning 1992 for many coefficients).
//
// Model       P(c | x) = softmax(b + W x)_c, W ~ N(0, s^2 I), a wide prior of b. x are the encoded
//             columns, of a window those of all its rows. Two classes have one logit, whatever the
//             likelihood.
// Estimator   The Laplace approximation at the mode of the coefficients. s maximises its evidence; where
//             left-out rows ask for it, s and the covariance are less (methods/plain/logistic_left_out). The
//             probabilities are averaged over the Gaussian logits with their covariance.
// Cost        n rows, m = (K - 1) (d + 1) coefficients for K classes and d columns. Some 100 passes over the
//             rows of the search of O(n m^2), and O(m^3) for each; without the full Hessian O(n K d) for each
//             pass and O(d^3) once, with a Kronecker-factored covariance. The search of s takes some of the
//             rows if there are many.
// Weights     A row of weight w counts w times in the likelihood.
// When        As the rival of every other classifier: one that loses to it should not be used.

namespace slimbayes {

namespace {

constexpr const char* kLogistic = "logistic";
constexpr int64_t kLogitsAtOnce = int64_t{1} << 22;  // elements of the covariances in a batch
constexpr double kClosely = 1e-10;                   // nats: to which the loss is minimised for the answers

int64_t columns_of(const Shape& input) {
  return std::accumulate(input.sizes.begin(), input.sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Returns the rows that choose the prior, with their weights: all, or equally spaced ones if a pass over all
/// would take long.
/// The choice passes over them some hundred times, so that those on disk come into memory.
Dataset search_rows_of(const Dataset& rows, int64_t columns, int64_t contrasts, bool full,
                       const Collective* ranks) {
  constexpr double kFullWork = 4e9, kWork = 2e8;  // multiplications of a pass
  constexpr int64_t kFewest = 2000, kMostOfDisk = int64_t{1} << 16;
  const auto size = static_cast<double>(contrasts * (columns + 1));
  auto most = std::max(kFewest, static_cast<int64_t>(full ? kFullWork / (size * size) : kWork / size));
  const int64_t n = rows.size();
  if (are_on_disk(rows))
    most = std::min({n, most, kMostOfDisk});
  else if (n <= most)
    return rows;
  const at::Tensor spaced =
      (at::arange(most, at::kDouble) * (static_cast<double>(n) / static_cast<double>(most)))
          .floor()
          .to(at::kLong);
  return taken_rows(rows, spaced, ranks);
}

/// What answers: the coordinates, the mode and the covariance around it.
struct LogisticPosterior {
  LogisticDesign design;
  at::Tensor coefficients;      // V [k, d + 1]
  LaplacePosterior covariance;  // of V, with the prior sd 1

  /// Returns the Gaussian logits of rows of any shape: mean [b, L] and covariance [b, L, L], with L = 1 for
  /// two classes and else one logit per class.
  std::pair<at::Tensor, at::Tensor> logits(const at::Tensor& x) const {
    const at::Tensor phi = design.features(x), mean = phi.mm(coefficients.t());
    const int64_t k = coefficients.size(0);
    const at::Tensor spread = logit_covariance(covariance, phi, k);
    if (k == 1) return {mean, spread};
    const at::Tensor& c = design.contrasts;
    return {mean.mm(c.t()), at::matmul(at::matmul(c, spread), c.t())};
  }
};

/// Returns the posterior with its covariance times the spread.
LaplacePosterior narrowed(LaplacePosterior p, double spread) {
  if (spread == 1) return p;
  if (p.half.defined()) p.half = p.half * std::sqrt(spread);
  if (p.variances.defined()) p.variances = p.variances * spread;
  return p;
}

LaplacePosterior stored_covariance(const TensorFile& file, int64_t k, int64_t r) {
  const auto read = [&](const std::string& name, at::IntArrayRef shape) {
    at::Tensor value = stored_tensor(file, name);
    check_shape(value, shape, kLogistic, name);
    if (value.scalar_type() != at::kDouble)
      refuse(kLogistic, name + " in float64", "another type", "the model file is damaged");
    check_finite(value, kLogistic, name);
    return value;
  };
  LaplacePosterior p;
  if (file.tensors.contains("half")) {
    p.half = read("half", {k * r, k * r});
    p.wide = stored_json(file, "wide").get<bool>();
    return p;
  }
  p.of_features = read("of_features", {r, r});
  p.of_classes = read("of_classes", {k, k});
  p.variances = read("variances", {r, k});
  check(p.variances.ge(0).all().item<bool>(), kLogistic, "variances of at least 0", "others");
  return p;
}

LogisticPosterior stored_posterior(const TensorFile& file, int64_t columns) {
  LogisticPosterior p;
  p.design.centre = stored_tensor(file, "centre");
  check_shape(p.design.centre, {columns}, kLogistic, "centre");
  p.coefficients = stored_tensor(file, "coefficients");
  check_shape(p.coefficients, {-1, columns + 1}, kLogistic, "coefficients");
  const int64_t k = p.coefficients.size(0);
  check(k >= 1, kLogistic, "at least two classes", "fewer");
  for (const at::Tensor& value : {p.design.centre, p.coefficients}) {
    check(value.scalar_type() == at::kDouble, kLogistic, "float64", "another type",
          "the model file is damaged");
    check_finite(value, kLogistic, "coefficients and centre");
  }
  const at::Tensor prior_sd = stored_tensor(file, "prior_sd");
  check_shape(prior_sd, {}, kLogistic, "prior_sd");
  p.design.prior_sd = prior_sd.to(at::kDouble).item<double>();
  if (!(p.design.prior_sd > 0 && std::isfinite(p.design.prior_sd)))
    refuse(kLogistic, "a prior sd above 0", fmt::format("{}", p.design.prior_sd));
  p.covariance = stored_covariance(file, k, columns + 1);  // a stored [k, k] bounds what k can ask for
  p.design.contrasts = class_contrasts(k + 1);
  return p;
}

class LogisticFitted : public Fitted {
 public:
  LogisticFitted(LogisticOptions options, Shape input, LogisticPosterior posterior, Summary summary)
      : options_(std::move(options)),
        input_(std::move(input)),
        posterior_(std::move(posterior)),
        summary_(std::move(summary)) {
    // A loaded tensor is row-major; the bits of a matrix product depend on the order of its factors in
    // memory.
    LaplacePosterior& p = posterior_.covariance;
    for (at::Tensor* x : {&posterior_.design.centre, &posterior_.coefficients, &p.half, &p.of_features,
                          &p.of_classes, &p.variances})
      if (x->defined()) *x = x->contiguous();
  }

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    at::NoGradGuard no_grad;
    Shape input = shape_from_json(stored_json(file, "input"));
    const int64_t columns = columns_of(input);
    auto options = options_from_json<LogisticOptions>(stored_json(file, "options"), kLogistic);
    if (!(columns <= options.max_columns))
      refuse(kLogistic, "at most max_columns columns", std::to_string(columns));
    return std::make_unique<LogisticFitted>(std::move(options), std::move(input),
                                            stored_posterior(file, columns),
                                            summary_from_json(stored_json(file, "summary")));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, input_, at::kDouble, bounded(options), kLogistic, [this](const Input& rows) {
      const auto [mean, covariance] = posterior_.logits(rows.x);
      return classes_of_gaussian(mean, covariance);
    });
  }

  /// Returns "energy" and "logit_var", the variance of the predicted class's logit minus the mean of all.
  Scores ood(const Dataset& data, const PredictOptions& options) const override {
    return logit_scores(latent_rows(data, input_, at::kDouble, bounded(options.on_host()), kLogistic,
                                    [this](const Input& rows) {
                                      const auto [mean, covariance] = posterior_.logits(rows.x);
                                      return Latent{mean, covariance.diagonal(0, 1, 2).contiguous()};
                                    }));
  }

  TensorFile save() const override {
    TensorFile file;
    file.metadata["options"] = options_to_json(options_).dump();
    file.metadata["summary"] = to_json(summary_).dump();
    file.metadata["input"] = to_json(input_).dump();
    const LaplacePosterior& p = posterior_.covariance;
    file.metadata["wide"] = nlohmann::json(p.wide).dump();
    const auto store = [&](const char* name, const at::Tensor& value) {
      if (value.defined()) file.tensors[name] = to_stored(value);
    };
    store("centre", posterior_.design.centre);
    store("coefficients", posterior_.coefficients);
    store("prior_sd", at::full({}, posterior_.design.prior_sd, at::kDouble));
    store("half", p.half);
    store("of_features", p.of_features);
    store("of_classes", p.of_classes);
    store("variances", p.variances);
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    at::NoGradGuard no_grad;
    if (input_.is_image()) return {};
    const LogisticDesign& design = posterior_.design;
    const int64_t d = input_.numel(), k = posterior_.coefficients.size(0);
    engine::CorrelatedLogits logits = logits_of(posterior_.covariance, k);
    logits.features.inputs = d;
    logits.centre = numbers_of(design.centre);
    logits.scale = design.prior_sd;
    logits.last = design.features(at::zeros({1, d}, at::kDouble))[0][d].item<double>();
    logits.weights = numbers_of(posterior_.coefficients);
    if (k > 1) logits.contrasts = numbers_of(design.contrasts);
    return engine::ClassSpec{std::move(logits)};
  }

 private:
  /// Returns the options on the CPU with a batch so small that the covariances of the logits fit in memory.
  PredictOptions bounded(const PredictOptions& options) const {
    const int64_t classes = posterior_.design.contrasts.size(0);
    return options.on_host().with_batch_at_most(std::max<int64_t>(1, kLogitsAtOnce / (classes * classes)));
  }

  LogisticOptions options_;
  Shape input_;
  LogisticPosterior posterior_;
  Summary summary_;
};

class LogisticMethod : public Method {
 public:
  explicit LogisticMethod(LogisticOptions options) : options_(std::move(options)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    at::NoGradGuard no_grad;
    const auto begin = std::chrono::steady_clock::now();
    const Dataset rows = training_rows(split.train, kLogistic);
    const int64_t columns = columns_of(rows.schema.input);
    if (!(columns <= options_.max_columns))
      refuse(kLogistic, fmt::format("at most {} encoded columns (max_columns)", options_.max_columns),
             std::to_string(columns), "raise `.max_columns` if time and memory permit");
    const int64_t k = std::max<int64_t>(2, rows.schema.task.outputs) - 1, size = k * (columns + 1);
    const bool full = full_logistic(k, columns, rows.size());
    const at::Tensor weights = class_weights(options_.class_weights, rows, kLogistic, context.ranks);
    Summary summary;
    summary.rows = rows.size();
    const Dataset some = search_rows_of(rows, columns, k, full, context.ranks);
    const LogisticRows chosen_on(some, weights, full), all(rows, weights, full, context.ranks);
    auto [prior_sd, spread] =
        logistic_choice(chosen_on, evidence_prior_sd(chosen_on, context.callback), context.callback);
    if (are_on_disk(rows) && context.ranks != nullptr) {  // an interrupt may have ended one search earlier
      prior_sd = broadcast_number(*context.ranks, prior_sd);
      spread = broadcast_number(*context.ranks, spread);
    }
    const LogisticMode mode =
        logistic_mode(all, prior_sd, at::zeros({k, columns + 1}, at::kDouble), kClosely);
    summary.facts.push_back(fmt::format(
        "prior sd of a weight {:.3g}, by the evidence and left-out rows{}; {} coefficients, {} "
        "covariance{}",
        prior_sd, some.size() < rows.size() ? fmt::format(" of {} rows", some.size()) : "", size,
        full ? "full" : "Kronecker-factored", spread < 1 ? fmt::format(", times {:.3g}", spread) : ""));
    summary.stopped = asked_to_end(context.callback).value_or(Stopped::converged);
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::make_unique<LogisticFitted>(
        options_, rows.schema.input,
        LogisticPosterior{all.design(prior_sd), mode.coefficients,
                          narrowed(laplace_posterior(mode.loss.matrix, 1), spread)},
        std::move(summary));
  }

 private:
  LogisticOptions options_;
};

std::unique_ptr<Method> make_logistic(const nlohmann::json& options) {
  return std::make_unique<LogisticMethod>(options_from_json<LogisticOptions>(options, kLogistic));
}

std::unique_ptr<Fitted> load_logistic(const TensorFile& file) { return LogisticFitted::load(file); }

}  // namespace

RegistryRow logistic_row() { return {"logistic", make_logistic, load_logistic}; }

}  // namespace slimbayes
