#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/likelihoods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"
#include "slimbayes/method/laplace_posterior.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/last_layer.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"
#include "slimbayes/methods/last_layer/last_layer_laplace_options.h"
#include "slimbayes/methods/last_layer/posterior_choice.h"
#include "slimbayes/methods/last_layer/rows.h"

// last-layer-laplace: the Laplace approximation of a trained network's last layer (Daxberger et al. 2021).
//
// Model       Classes: W ~ N(W*, (H + I / s^2)^-1), where W* are the trained weights of the output layer and
//             H is the generalised Gauss-Newton matrix of the training rows (laplace_posterior.h). The
//             probabilities are averaged over the Gaussian logits with their covariance. Regression: bll's
//             posterior.
// Estimator   The network is trained as in dnn, or is given. The prior sd s maximises the Laplace evidence
//             with a prior of mean 0 (methods/last_layer/posterior_choice.h for a regression). A prior with
//             mean W* would leave only residuals to explain and prefer s = 0. The noise of a regression is
//             the validation MSE, because a network's training residuals are smaller than the noise.
// Cost        dnn's, then O(n k^2 r^2 + (k r)^3) for n rows, k classes and r features; with the Kronecker
//             structure O(n (k^2 + r^2) + k^3 + r^3). A prediction costs one pass, O(k^2 r^2) or with the
//             Kronecker structure O(r^2 + k r), then O(k^3) and 1,024 draws of k correlated logits.
// When        For a classifier that is already trained. The posterior takes into account how certain the
//             class of each row is, while bll gives every row of a class the same weight.

namespace slimbayes {

namespace {

constexpr const char* kLastLayerLaplace = "last-layer-laplace";
constexpr const char* kLaplacePriorSd = "prior_sd";
constexpr int64_t kFullWeights = 2048;        // most weights for which the structure "auto" is full
constexpr int64_t kMostServedWeights = 1024;  // whose factor adds 8 MB to the model file
constexpr int64_t kMostFullWeights = 8192;    // half a gigabyte; its spectrum takes minutes
constexpr int64_t kCovariancesAtOnce = int64_t{1} << 22;  // elements of [b, k, k] in a batch

LastLayer regression_of(const LastLayerLaplaceOptions& o) {
  LastLayerOptions posterior;
  posterior.choice = o.choice;
  return {kLastLayerLaplace, options_to_json(o), o.network, posterior, /*enriched=*/false};
}

/// Returns the options with a batch so small that the covariances of `outputs` logits at its rows fit in
/// memory.
PredictOptions bounded(const PredictOptions& options, int64_t outputs) {
  return options.with_batch_at_most(std::max<int64_t>(1, kCovariancesAtOnce / (outputs * outputs)));
}

class LaplaceFitted : public ExactPosterior {
 public:
  LaplaceFitted(LastLayerLaplaceOptions options, std::shared_ptr<const TrainedNetwork> network,
                GaussNewton matrix, double prior_sd, Summary summary)
      : options_(std::move(options)),
        trained_(std::move(network)),
        matrix_(std::move(matrix)),
        summary_(std::move(summary)),
        posterior_(laplace_posterior(matrix_, prior_sd)),
        network_(answer_features(*trained_, posterior_.wide, kLastLayerLaplace)) {}

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    PredictOptions own = bounded(options, network_.outputs());
    own.device = device_for(*trained_, options.device);
    const std::optional<LastLayerFeatures> moved = moved_to(own.device);
    const LastLayerFeatures& features = moved ? *moved : network_;
    return predict_rows(data, trained_->spec.input, features.type(), own, kLastLayerLaplace,
                        [&](const Input& input) {
                          const LastLayerRows rows = on_cpu(features(input));
                          return classes_of_gaussian(rows.output.to(at::kDouble), covariance_at(rows));
                        });
  }

  /// Returns "energy" and "logit_var": the variance of the difference between the predicted class's logit and
  /// the mean of all logits (of the logit itself if there is only one).
  Scores ood(const Dataset& data, const PredictOptions& options) const override {
    PredictOptions own = bounded(options, network_.outputs());
    own.device = device_for(*trained_, options.device);
    const std::optional<LastLayerFeatures> moved = moved_to(own.device);
    const LastLayerFeatures& features = moved ? *moved : network_;
    const Latent f = latent_rows(
        data, trained_->spec.input, network_.type(), own, kLastLayerLaplace, [&](const Input& input) {
          const LastLayerRows rows = on_cpu(features(input));
          return Latent{rows.output.to(at::kDouble), covariance_at(rows).diagonal(0, 1, 2)};
        });
    return logit_scores(f);
  }

  std::unique_ptr<ExactPosterior> updated(const Dataset& add, const Dataset& drop) const override {
    GaussNewton matrix = matrix_;
    const LastLayerFeatures features = statistics_features(*trained_, kLastLayerLaplace);
    for (const int sign : {1, -1}) {
      const Dataset& given = sign > 0 ? add : drop;
      if (given.size() == 0) continue;
      over_batches(training_rows(given, kLastLayerLaplace), bounded({}, network_.outputs()),
                   [&](const Batch& batch) {
                     const LastLayerRows rows = features(input_of(batch, features.type()));
                     matrix = with_rows(std::move(matrix), rows.features, rows.output, sign, batch.weight);
                   });
    }
    return with_matrix(std::move(matrix), summary_.rows + add.size() - drop.size());
  }

  std::unique_ptr<ExactPosterior> prior() const override {
    return with_matrix(gauss_newton(matrix_.outputs(), matrix_.rank(), matrix_.full.defined()), 0);
  }

  std::unique_ptr<ExactPosterior> merged(const ExactPosterior& other) const override {
    const auto* same = dynamic_cast<const LaplaceFitted*>(&other);
    check(same != nullptr && same->posterior_.prior_sd == posterior_.prior_sd &&
              same->matrix_.full.defined() == matrix_.full.defined() &&
              same_network(*same->trained_, *trained_),
          kLastLayerLaplace, "posteriors of the same network, structure and prior", "others",
          "make shards of one model: update `.shard`");
    return with_matrix(slimbayes::merged(matrix_, same->matrix_), summary_.rows + same->summary_.rows);
  }

  TensorFile save() const override {
    Weights all = trained_->weights;
    all[kLaplacePriorSd] = at::full({}, posterior_.prior_sd, at::kDouble);
    // A whole number as in the files of earlier versions, which knew no weights of rows.
    const bool whole = matrix_.n == std::floor(matrix_.n);
    all["statistics.n"] = at::full({}, matrix_.n, whole ? at::kLong : at::kDouble);
    all["statistics.features"] = matrix_.features;
    all["statistics.classes"] = matrix_.classes;
    if (matrix_.full.defined()) all["statistics.full"] = matrix_.full;
    return to_file(NetworkFile{options_to_json(options_), trained_->head, trained_->spec, std::move(all),
                               summary_, trained_->module});
  }

  const Summary& summary() const override { return summary_; }
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }
  NetworkUse network_use() const override { return NetworkUse::averaged; }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    if (posterior_.half.defined() && posterior_.half.size(0) > kMostServedWeights) return {};
    auto features = last_layer_spec(*trained_, network_.type());
    if (!features) return {};
    const auto& last = std::get<Linear>(trained_->spec.layers.back());
    engine::CorrelatedLogits logits = logits_of(posterior_, network_.outputs());
    logits.features = std::move(*features);
    logits.scale = last.scales.weight;
    if (last.bias) logits.last = last.scales.bias;
    logits.centred = network_.outputs() > 1;
    return engine::ClassSpec{std::move(logits)};
  }

 private:
  /// Returns the covariance of each row's logits minus their mean over the classes. Softmax ignores a common
  /// shift of the logits, about which the training rows say nothing. The rows are on the CPU. [b, k, k]
  at::Tensor covariance_at(const LastLayerRows& rows) const {
    return centred_logit_covariance(posterior_, rows.features, network_.outputs());
  }

  /// Returns the features for answers with their weights on this device; nullopt for the CPU, where network_
  /// has them.
  std::optional<LastLayerFeatures> moved_to(at::Device device) const {
    if (device.is_cpu()) return {};
    return answer_features(*trained_, posterior_.wide, kLastLayerLaplace, /*sketch=*/0, device);
  }

  /// Returns the model with the posterior for this matrix H, summed over `rows` rows.
  std::unique_ptr<ExactPosterior> with_matrix(GaussNewton matrix, int64_t rows) const {
    Summary summary = summary_;
    summary.rows = rows;
    return std::make_unique<LaplaceFitted>(options_, trained_, std::move(matrix), posterior_.prior_sd,
                                           std::move(summary));
  }

  LastLayerLaplaceOptions options_;
  std::shared_ptr<const TrainedNetwork> trained_;
  GaussNewton matrix_;
  Summary summary_;
  LaplacePosterior posterior_;
  LastLayerFeatures network_;  // features for answers
};

class LaplaceMethod : public Method {
 public:
  explicit LaplaceMethod(LastLayerLaplaceOptions options) : options_(std::move(options)) {
    check_prior(options_.choice, kLastLayerLaplace);
  }

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    if (split.train.schema.task.kind == TaskKind::regression)
      return last_layer_method(regression_of(options_))->fit(split, context);
    const Dataset rows = training_rows(split.train, kLastLayerLaplace, device_for(context)),
                  held_out = validation_rows(split.valid, rows, kLastLayerLaplace);
    check_size(split.train.schema, context);
    const auto network = std::make_shared<const TrainedNetwork>(
        starting_network(options_.network, split, context, kLastLayerLaplace, /*takes_modules=*/true));
    const LastLayerFeatures features =
        statistics_features(*network, kLastLayerLaplace, /*sketch=*/0, rows.device());
    const int64_t k = features.outputs(), r = features.rank();
    const bool full = options_.structure == "full" || (options_.structure == "auto" && k * r <= kFullWeights);
    auto [matrix, log_likelihood] =
        summed_rows(gauss_newton(k, r, full), features, rows_of_rank(rows, context.ranks));
    Summary summary = network->summary;
    const double prior_sd =
        chosen_prior_sd(*network, features, matrix, log_likelihood, held_out, summary.notes);
    summary.facts.push_back(fmt::format("Laplace approximation of {} weights, {}; their prior sd: {:.3g}",
                                        k * r, full ? "full" : "Kronecker-factored", prior_sd));
    return std::make_unique<LaplaceFitted>(options_, network, matrix, prior_sd, std::move(summary));
  }

 private:
  /// The Gauss-Newton matrix of the training rows, and the log likelihood of the trained network.
  struct RowSums {
    GaussNewton matrix;
    double log_likelihood = 0;
  };

  /// Returns the sums over the rows of all ranks, given the matrix without rows.
  static RowSums summed_rows(GaussNewton empty, const LastLayerFeatures& features, const RankRows& own) {
    RowSums sums{std::move(empty)};
    on_all_ranks(own.ranks, [&] {
      over_batches(own.rows, bounded({}, features.outputs()), [&](const Batch& batch) {
        const LastLayerRows at = features(input_of(batch, features.type()));
        const at::Tensor& w = batch.weight;
        sums.matrix = with_rows(std::move(sums.matrix), at.features, at.output, 1, w);
        const at::Tensor loss =
            head_of(own.rows.schema.task).loss(at.output.to(at::kDouble), batch.target.to(at::kDouble));
        sums.log_likelihood -= (w.defined() ? loss * w : loss).sum().item<double>();
      });
    });
    const at::Tensor scalars = at::tensor({sums.log_likelihood, sums.matrix.n}, at::kDouble);
    std::vector<at::Tensor> all{sums.matrix.features, sums.matrix.classes, scalars};
    if (sums.matrix.full.defined()) all.push_back(sums.matrix.full);
    sum_over_ranks(all, own.ranks);
    sums.log_likelihood = scalars[0].item<double>();
    sums.matrix.n = scalars[1].item<double>();
    return sums;
  }

  /// Throws std::invalid_argument, before the training, if the full matrix would be too large.
  void check_size(const Schema& schema, const FitContext& context) const {
    if (options_.structure != "full") return;
    NetworkSpec body = context.start ? context.start->spec
                                     : trained_network_spec(options_.network, schema.input, schema.tokens,
                                                            schema.task.outputs);
    if (body.layers.empty()) return;  // a module, whose posterior is computed at once
    body.layers.pop_back();
    const int64_t weights = schema.task.outputs * (output(body).width() + 1);
    if (!(weights <= kMostFullWeights))
      refuse(kLastLayerLaplace,
             fmt::format("at most {} weights of the last layer for the full structure", kMostFullWeights),
             std::to_string(weights), "take `.structure=kronecker`");
  }

  /// Returns the prior sd that the option `prior` asks for. With "select" it maximises the evidence, or
  /// minimises the validation NLL, over prior_range: there the logits have a prior sd of 0.01 to 10 on
  /// average. Adds a note if the result is an end of that range.
  double chosen_prior_sd(const TrainedNetwork& network, const LastLayerFeatures& features,
                         const GaussNewton& matrix, double log_likelihood, const Dataset& valid,
                         std::vector<std::string>& notes) const {
    const PosteriorChoiceOptions& choice = options_.choice;
    if (choice.prior == "fixed") return choice.prior_sd;
    const double unit = unit_prior_sd(matrix.features.diagonal().sum().item<double>(), matrix.n);
    if (choice.prior == "unit") return unit;
    const bool by_nll = choice.select == "nll" && valid.size() > 0;
    const at::Tensor values = by_nll ? at::Tensor() : eigenvalues(matrix);
    const double squared = output_weights(network).square().sum().item<double>();
    const LeastScore best = least_score(prior_range(unit), [&](double sd) {
      return by_nll ? validation_nll(features, laplace_posterior(matrix, sd), valid)
                    : -laplace_evidence(log_likelihood, squared, values, sd);
    });
    if (!std::isfinite(best.score))
      throw NumericalError("no prior sd has a finite score; look for extreme inputs");
    if (std::string note = class_prior_note(best.at, unit); !note.empty()) notes.push_back(std::move(note));
    return best.at;
  }

  /// Returns the mean NLL of the validation rows by their weights, at most the first 2,000, under this
  /// posterior.
  static double validation_nll(const LastLayerFeatures& features, const LaplacePosterior& posterior,
                               const Dataset& valid) {
    constexpr int64_t kRows = 2000;
    const int64_t n = std::min(kRows, valid.size());
    const Dataset some = valid.subset(at::arange(n));
    double sum = 0;
    over_batches(some, bounded({}, features.outputs()), [&](const Batch& batch) {
      const LastLayerRows at = on_cpu(features(input_of(batch, features.type())));
      const Predictive p = classes_of_gaussian(
          at.output.to(at::kDouble), centred_logit_covariance(posterior, at.features, features.outputs()));
      const at::Tensor y = on_cpu(batch.target).to(at::kDouble), w = on_cpu(batch.weight);
      sum += w.defined() ? (row_nll(p, y) * w).sum().item<double>()
                         : *mean_nll(p, y) * static_cast<double>(y.size(0));
    });
    return sum / some.total_weight();
  }

  LastLayerLaplaceOptions options_;
};

std::unique_ptr<Method> make_last_layer_laplace(const nlohmann::json& options) {
  return std::make_unique<LaplaceMethod>(
      options_from_json<LastLayerLaplaceOptions>(options, kLastLayerLaplace));
}

std::unique_ptr<Fitted> load_last_layer_laplace(const TensorFile& file) {
  auto options = options_from_json<LastLayerLaplaceOptions>(stored_json(file, "options"), kLastLayerLaplace);
  if (!file.tensors.contains("statistics.classes")) return load_last_layer(regression_of(options), file);
  NetworkFile net = network_file(file);
  const Network::Lookup lookup = as_type(net.weights, at::kDouble);
  const LastLayerFeatures features =
      net.module ? LastLayerFeatures(*net.module)
                 : LastLayerFeatures(net.spec, as_type(net.weights, at::kFloat), kLastLayerLaplace);
  const int64_t k = features.outputs(), r = features.rank();
  GaussNewton matrix{{}, lookup("statistics.features"), lookup("statistics.classes"), 0};
  check_shape(matrix.features, {r, r}, kLastLayerLaplace, "statistics.features");
  check_shape(matrix.classes, {k, k}, kLastLayerLaplace, "statistics.classes");
  if (net.weights.contains("statistics.full")) {
    matrix.full = lookup("statistics.full");
    check_shape(matrix.full, {k * r, k * r}, kLastLayerLaplace, "statistics.full");
  }
  const at::Tensor rows = stored_tensor(file, "statistics.n");
  check_shape(rows, {}, kLastLayerLaplace, "statistics.n");
  matrix.n = rows.to(at::kDouble).item<double>();
  constexpr double kMostRows = 9007199254740992;  // 2^53; leaves room for the rows of updates
  if (!(matrix.n >= 0 && matrix.n <= kMostRows))
    refuse(kLastLayerLaplace, "a number of rows", fmt::format("{}", matrix.n), "the model file is damaged");
  const double prior_sd = stored_positive(lookup, kLaplacePriorSd, kLastLayerLaplace);
  auto network = std::make_shared<const TrainedNetwork>(
      TrainedNetwork{std::move(net.spec), network_weights(net.weights), net.head, net.summary, net.module});
  return std::make_unique<LaplaceFitted>(std::move(options), std::move(network), std::move(matrix), prior_sd,
                                         std::move(net.summary));
}

}  // namespace

RegistryRow last_layer_laplace_row() {
  return {"last-layer-laplace", make_last_layer_laplace, load_last_layer_laplace};
}

}  // namespace slimbayes
