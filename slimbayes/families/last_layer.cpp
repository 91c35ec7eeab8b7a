#include "slimbayes/families/last_layer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/likelihoods.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/families/batches.h"
#include "slimbayes/families/last_layer_features.h"
#include "slimbayes/families/network_file.h"
#include "slimbayes/families/posterior_choice.h"
#include "slimbayes/families/stored_statistics.h"
#include "slimbayes/families/trained_network.h"
#include "slimbayes/ntk/enrichment.h"
#include "slimbayes/train/checkpoint_reader.h"
#include "slimbayes/train/fit_series.h"

namespace slimbayes {

namespace {

constexpr const char* kNoiseVar = "noise_var";              // in the model file of a regression only
constexpr const char* kNetworkNoise = "network_noise_var";  // likewise; TrainedNetwork::noise_var
constexpr const char* kPriorFactor = "prior_factor";        // T, the prior covariance of the weights is T T^T
constexpr const char* kRefit = "refit";

/// The posteriors of a last layer, one per output.
struct LastLayerPosterior {
  at::Tensor prior_factor;                   // T [r, r]
  std::vector<LinearStatistics> statistics;  // of each output
  double noise_var;                          // sigma2; for classes, class_noise

  std::vector<LinearPosterior> outputs() const {
    std::vector<LinearPosterior> all;
    for (const LinearStatistics& s : statistics)
      all.push_back(linear_posterior(s, {noise_var, prior_factor, /*fit_mean=*/false}));
    return all;
  }
};

/// The last layer at all rows, in float64, with the targets.
struct EvaluatedRows {
  at::Tensor features, output, y;  // [n, r], [n, k], [n]
};

EvaluatedRows evaluated(const LastLayerFeatures& network, const Dataset& data) {
  std::vector<at::Tensor> features, outputs, targets;
  over_batches(data, {}, [&](const Batch& batch) {
    const LastLayerRows rows = network(input_of(batch));
    features.push_back(rows.features.to(at::kDouble));
    outputs.push_back(rows.output.to(at::kDouble));
    targets.push_back(batch.target.to(at::kDouble));
  });
  return {at::cat(features), at::cat(outputs), at::cat(targets)};
}

/// Returns the rows that the posterior of output c is computed from: the residuals of a regression; for
/// classes, those of class c (of one logit, all), whose targets do not count: the mean is the network's.
LinearRows rows_of_output(const EvaluatedRows& rows, int64_t c, bool regression) {
  if (regression) return {rows.features, rows.y - rows.output.squeeze(-1), {}};
  const at::Tensor features = rows.output.size(1) == 1
                                  ? rows.features
                                  : rows.features.index_select(0, at::nonzero(rows.y == c).squeeze(1));
  return {features, at::zeros({features.size(0)}, at::kDouble), {}};
}

/// Returns how many rows may enter the posterior of one of `outputs` logits: a single one has two classes.
int64_t most_class_rows(const LastLayerOptions& options, int64_t outputs) {
  return options.class_rows * (outputs == 1 ? 2 : 1);
}

/// Returns the mean and variance of each output. [b, k]
Latent latent_at(const std::vector<LinearPosterior>& outputs, const LastLayerRows& rows) {
  const at::Tensor features = rows.features.to(at::kDouble);
  std::vector<at::Tensor> vars;
  for (const LinearPosterior& one : outputs) vars.push_back(epistemic_var(one, features));
  return {rows.output.to(at::kDouble), at::stack(vars, 1)};
}

/// Returns the answer at latent functions with this mean and variance. [n, k]
Predictive class_answer(const Latent& f) {
  const Likelihood likelihood =
      f.mean.size(1) == 1 ? Likelihood(BernoulliLikelihood{}) : Likelihood(SoftmaxLikelihood{Stream(0)});
  return predictive(likelihood, f);
}

class LastLayerFitted : public Fitted {
 public:
  LastLayerFitted(LastLayer layer, TrainedNetwork network, LastLayerPosterior posterior, Summary summary,
                  PosteriorChoice choice)
      : layer_(std::move(layer)),
        trained_(std::make_shared<TrainedNetwork>(std::move(network))),
        outputs_(posterior.outputs()),
        summary_(std::move(summary)),
        choice_(choice),
        network_(trained_->spec, as_type(trained_->weights, at::kFloat), layer_.method) {
    check_posteriors();
  }

  /// The same network with posteriors that were updated.
  LastLayerFitted(const LastLayerFitted& before, std::vector<LinearPosterior> outputs, int64_t rows)
      : layer_(before.layer_),
        trained_(before.trained_),
        outputs_(std::move(outputs)),
        summary_(before.summary_),
        choice_(before.choice_),
        network_(before.network_) {
    summary_.rows = rows;
  }

  std::unique_ptr<Fitted> updated(const Dataset& add, const Dataset& drop) const override {
    if (drop.size() > 0) check_all_rows_known();
    std::vector<LinearPosterior> outputs = outputs_;
    for (const bool adds : {true, false}) {
      const Dataset& given = adds ? add : drop;
      if (given.size() == 0) continue;
      const EvaluatedRows rows = evaluated(network_, training_data(given, layer_.method));
      for (size_t c = 0; c < outputs.size(); ++c) {
        const LinearRows own = rows_of_output(rows, static_cast<int64_t>(c), regression());
        if (own.y.size(0) > 0) outputs[c] = adds ? added(outputs[c], own) : removed(outputs[c], own);
      }
    }
    return std::make_unique<LastLayerFitted>(*this, std::move(outputs),
                                             summary_.rows + add.size() - drop.size());
  }

  std::unique_ptr<Fitted> prior() const override {
    std::vector<LinearPosterior> outputs;
    for (const LinearPosterior& one : outputs_)
      outputs.push_back(linear_posterior(linear_statistics(network_.rank()), one.model));
    return std::make_unique<LastLayerFitted>(*this, std::move(outputs), 0);
  }

  std::unique_ptr<Fitted> merged(const Fitted& other) const override {
    const auto* same = dynamic_cast<const LastLayerFitted*>(&other);
    check(same != nullptr && same->layer_.method == layer_.method &&
              same->posterior_mean() == posterior_mean() &&
              to_json(same->trained_->spec) == to_json(trained_->spec) &&
              same_but_statistics(same->trained_->weights, trained_->weights),
          layer_.method, "posteriors around the same network", "others",
          "make shards of one model: update --shard");
    const LinearModel &mine = outputs_[0].model, &theirs = same->outputs_[0].model;
    check(mine.sigma2 == theirs.sigma2 && at::equal(mine.prior_factor, theirs.prior_factor), layer_.method,
          "posteriors with the same noise and prior", "others", "make shards of one model: update --shard");
    std::vector<LinearPosterior> outputs;
    for (size_t c = 0; c < outputs_.size(); ++c)
      outputs.push_back(linear_posterior(
          slimbayes::merged(outputs_[c].statistics, same->outputs_[c].statistics), outputs_[c].model));
    return std::make_unique<LastLayerFitted>(*this, std::move(outputs), summary_.rows + same->summary_.rows);
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    return predict_rows(data, trained_->spec.input, at::kFloat, options, layer_.method,
                        [this](const Input& input) { return answer(network_(input)); });
  }

  /// Classes: "energy", and "logit_var", the variance of the predicted class's logit (R section 4.4).
  Scores ood(const Dataset& data) const override {
    if (regression()) return {};
    const Latent f = latent_rows(data, trained_->spec.input, at::kFloat, {}, layer_.method,
                                 [this](const Input& input) { return latent_at(outputs_, network_(input)); });
    const at::Tensor predicted = f.mean.argmax(1, /*keepdim=*/true);
    return {{"energy", energy(f.mean)}, {"logit_var", f.epistemic_var.gather(1, predicted).squeeze(1)}};
  }

  TensorFile save() const override {
    Weights all = trained_->weights;
    all[kPriorFactor] = outputs_[0].model.prior_factor;
    if (regression()) {
      all[kNoiseVar] = at::full({}, outputs_[0].model.sigma2, at::kDouble);
      all[kNetworkNoise] = at::full({}, trained_->noise_var, at::kDouble);
    }
    for (size_t c = 0; c < outputs_.size(); ++c)
      store_statistics(outputs_[c].statistics, all, fmt::format("statistics.{}.", c));
    return to_file(NetworkFile{layer_.options, trained_->spec, std::move(all), summary_});
  }

  const Summary& summary() const override { return summary_; }
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }
  const PosteriorChoice& choice() const { return choice_; }

 private:
  void check_posteriors() const {
    check(static_cast<int64_t>(outputs_.size()) == network_.outputs(), layer_.method,
          "a posterior for each output", fmt::format("{} posteriors", outputs_.size()),
          "the model file is damaged");
    check(outputs_[0].statistics.rank() == network_.rank(), layer_.method,
          fmt::format("posteriors of the {} features", network_.rank()),
          std::to_string(outputs_[0].statistics.rank()), "the model file is damaged");
  }

  /// Throws if the posterior may be that of a sample of the rows, from which a row that it does not hold
  /// would be removed.
  void check_all_rows_known() const {
    const LastLayerOptions& o = layer_.posterior;
    check(o.subsample == 0, layer_.method, "a posterior of all rows to remove rows from",
          fmt::format("one of a subsample ({})", o.subsample), "fit without --subsample");
    for (const LinearPosterior& one : outputs_)
      check(regression() || one.statistics.n < most_class_rows(o, network_.outputs()), layer_.method,
            "a posterior of all rows to remove rows from",
            fmt::format("one of at most {} rows per class", o.class_rows), "fit with a larger --class-rows");
  }

  bool regression() const { return trained_->noise_var > 0; }
  bool posterior_mean() const { return layer_.posterior.mean == "posterior"; }

  Predictive answer(const LastLayerRows& rows) const {
    const Latent f = latent_at(outputs_, rows);
    if (!regression()) return class_answer(f);
    at::Tensor centre = f.mean.squeeze(-1);
    if (posterior_mean()) centre = centre + mean(outputs_[0], rows.features);
    return Regression{centre, at::full_like(centre, outputs_[0].model.sigma2), f.epistemic_var.squeeze(-1)};
  }

  LastLayer layer_;
  std::shared_ptr<const TrainedNetwork> trained_;
  std::vector<LinearPosterior> outputs_;  // one per output
  Summary summary_;
  PosteriorChoice choice_;     // of the fit; not stored
  LastLayerFeatures network_;  // float32, as trained
};

/// What a refit keeps of the fit without the validation rows.
struct Known {
  PosteriorChoice choice;
  double network_noise;  // TrainedNetwork::noise_var
};

class LastLayerMethod : public Method {
 public:
  explicit LastLayerMethod(LastLayer layer) : layer_(std::move(layer)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    if (!layer_.posterior.refit) return fitted(split, context, {});
    if (!context.start) return refitted(split, context);
    // The network may have learned the validation rows: their residuals tell nothing about its noise.
    const PosteriorChoiceOptions& options = layer_.posterior.choice;
    check(options.select == "evidence" || (options.noise == "mse" && options.prior != "select"),
          layer_.method, "a noise that needs no validation rows for --refit with --network-from",
          "one chosen by their NLL", "add --noise mse or --select evidence, or leave --refit out");
    return fitted({joined(split.train, split.valid), {}}, context, {});
  }

 private:
  std::unique_ptr<LastLayerFitted> fitted(const Split& split, const FitContext& context,
                                          const std::optional<Known>& known) const {
    const Dataset rows = training_data(split.train, layer_.method),
                  held_out = validation_data(split.valid, rows, layer_.method);
    TrainedNetwork network = starting_network(layer_.network, split, context, layer_.method);
    if (known) network.noise_var = known->network_noise;
    Summary summary = network.summary;
    const LastLayerFeatures features(network.spec, as_type(network.weights, at::kFloat), layer_.method);
    const at::Tensor index = subsample(rows.size(), features.rank(), context.stream, summary);
    const Dataset used = index.defined() ? rows.subset(index) : rows;
    const EvaluatedRows at_rows = evaluated(features, used);
    const EvaluatedRows at_valid =
        held_out.size() > 0 && !known ? evaluated(features, held_out) : EvaluatedRows{};

    at::Tensor factor = at::eye(features.rank(), at::kDouble);
    if (layer_.enriched)
      factor = safe_cholesky(factor + enrichment_at(network, used, at_rows, context.stream, summary)).factor;
    LastLayerPosterior posterior{factor, {}, layer_.posterior.class_noise};
    PosteriorChoice choice;
    if (rows.schema.task.kind == TaskKind::regression) {
      const double scale = static_cast<double>(rows.size()) / static_cast<double>(used.size());
      posterior.statistics = {residual_statistics(at_rows, scale, rows.size())};
      choice = known ? known->choice
                     : chosen(spectrum_of(posterior.statistics[0], factor, at_valid.features,
                                          residuals(at_valid), layer_.posterior.mean == "posterior"),
                              network.noise_var, layer_.posterior.choice, rows.schema.task.encoded_sd);
      posterior.noise_var = choice.noise_var;
    } else {
      check(layer_.posterior.mean == "network", layer_.method, "mean network for classes",
            layer_.posterior.mean, "leave --mean out: the posterior of a logit has no residual");
      posterior.statistics = class_statistics(at_rows, context.stream);
      choice.prior_sd = known ? known->choice.prior_sd : class_prior_sd(posterior, at_valid);
    }
    posterior.prior_factor = choice.prior_sd * factor;
    summary.notes.push_back(fmt::format("prior sd of the last layer's weights: {:.3g}", choice.prior_sd));
    return std::make_unique<LastLayerFitted>(layer_, std::move(network), std::move(posterior),
                                             std::move(summary), choice);
  }

  /// Trains twice: the first fit chooses the epochs, the noise and the prior sd, the second is trained on
  /// training and validation rows with these. A killed fit that resumes does not repeat the first one.
  std::unique_ptr<Fitted> refitted(const Split& split, const FitContext& context) const {
    constexpr const char *kEpochs = "epochs", *kNoise = "noise_var", *kPriorSd = "prior_sd",
                         *kMse = "network_noise_var";
    const FitSeries series(context.checkpoint, kRefit, context.callback);
    Known known;
    int64_t epochs = 0;
    const auto record = series.start(2);
    if (record && record->metadata.at("done") == "1") {
      read_contents(series.name(), kCheckpointHint, [&] {
        const auto kept = [&](const char* name) { return stored_tensor(*record, name).item<double>(); };
        known = {{kept(kNoise), kept(kPriorSd)}, kept(kMse)};
        epochs = static_cast<int64_t>(kept(kEpochs));
        check(known.choice.noise_var >= 0 && known.choice.prior_sd > 0 && epochs > 0, kRefit,
              "a noise, a prior sd and epochs that a fit gives", "others");
      });
    } else {
      if (context.callback) context.callback->stage("1/2");
      auto first =
          fitted(split, {context.stream, context.callback, series.part(0), {}, context.networks}, {});
      if (first->summary().stopped == "interrupted" || split.valid.size() == 0) return first;
      known = {first->choice(), first->network()->noise_var};
      epochs = std::max<int64_t>(1, first->summary().best_epoch);
      TensorFile file;
      const auto keep = [&file](const char* name, double value) {
        file.tensors[name] = to_stored(at::full({}, value, at::kDouble));
      };
      keep(kNoise, known.choice.noise_var);
      keep(kPriorSd, known.choice.prior_sd);
      keep(kEpochs, static_cast<double>(epochs));
      keep(kMse, known.network_noise);
      series.keep(std::move(file), 1);
    }
    if (context.callback) context.callback->stage("2/2");
    LastLayer layer = layer_;
    layer.network.training.epochs = epochs;
    layer.network.training.patience = 0;
    return LastLayerMethod(std::move(layer))
        .fitted({joined(split.train, split.valid), {}},
                {context.stream, context.callback, series.part(1), {}, context.networks}, known);
  }

  /// Returns the rows that the variance is computed from, drawn without replacement; undefined for all of
  /// them. [k] int64
  at::Tensor subsample(int64_t n, int64_t rank, const Stream& stream, Summary& summary) const {
    const double given = layer_.posterior.subsample;
    const auto k =
        std::min(n, static_cast<int64_t>(given < 1 ? std::ceil(given * static_cast<double>(n)) : given));
    if (given == 0 || k == n) return {};
    check(k >= rank, layer_.method, fmt::format("a subsample of at least {} rows, one per feature", rank),
          std::to_string(k), "raise --subsample, or leave it out for all rows");
    if (k < 3 * rank) {
      summary.notes.push_back(fmt::format(
          "{} rows for {} features: the variance is some {:.2g} times that of all rows where the "
          "data decide it; three rows per feature would bring it to 1.5",
          k, rank, static_cast<double>(k) / static_cast<double>(std::max<int64_t>(1, k - rank - 1))));
    }
    return stream.split("subsample").permutation(n).narrow(0, 0, k);
  }

  /// Returns A^T A at these rows; for classes, of the gradients of each row's predicted logit (R section
  /// 4.4). [r, r]
  at::Tensor enrichment_at(const TrainedNetwork& network, const Dataset& rows, const EvaluatedRows& at_rows,
                           const Stream& stream, Summary& summary) const {
    const GradientModel model =
        gradient_model(network.spec, "network", as_type(network.weights, at::kFloat), at::kFloat);
    GradientRows gradients{
        rows.size(), [&](int64_t from, int64_t to) { return input_of(rows.rows(at::arange(from, to))); }};
    if (at_rows.output.size(1) > 1) gradients.output = at_rows.output.argmax(1);
    const Enrichment found =
        enrichment(model, gradients, projector(at_rows.features), {layer_.route}, stream.split("enrichment"));
    summary.notes.push_back(fmt::format("A^T A by the {} route: {}", found.route, found.reason));
    return found.gram;
  }

  static at::Tensor residuals(const EvaluatedRows& rows) {
    return rows.y.defined() ? rows.y - rows.output.squeeze(-1) : at::Tensor();
  }

  static LinearStatistics residual_statistics(const EvaluatedRows& rows, double scale, int64_t n) {
    const LinearStatistics s = added(linear_statistics(rows.features.size(1)), rows_of_output(rows, 0, true));
    return scale == 1 ? s : scaled(s, scale, n);
  }

  /// Returns for each logit the statistics of at most class_rows rows of its class.
  std::vector<LinearStatistics> class_statistics(const EvaluatedRows& rows, const Stream& stream) const {
    std::vector<LinearStatistics> all;
    for (int64_t c = 0; c < rows.output.size(1); ++c) {
      LinearRows own = rows_of_output(rows, c, false);
      const int64_t n = own.y.size(0), most = most_class_rows(layer_.posterior, rows.output.size(1));
      if (n > most) {
        const Stream draw = stream.split("class").split(static_cast<uint64_t>(c));
        const at::Tensor some = draw.permutation(n).narrow(0, 0, most);
        own = {own.features.index_select(0, some), own.y.narrow(0, 0, most), {}};
      }
      all.push_back(added(linear_statistics(own.features.size(1)), own));
    }
    return all;
  }

  /// Returns the prior sd of a classifier: with prior "select" the one with the least validation NLL, of 13
  /// with which the logits have a prior sd of 0.01 to 10 on average. Without validation rows it is "unit".
  double class_prior_sd(const LastLayerPosterior& posterior, const EvaluatedRows& valid) const {
    constexpr int64_t kRows = 2000;  // validation rows, at most
    const PosteriorChoiceOptions& options = layer_.posterior.choice;
    if (options.prior == "fixed") return options.prior_sd;
    double sum = 0, count = 0;
    for (const LinearStatistics& one : posterior.statistics) {
      sum += (one.S * posterior.prior_factor.mm(posterior.prior_factor.t())).sum().item<double>();
      count += static_cast<double>(one.n);
    }
    const double unit = unit_prior_sd(sum, count);
    if (options.prior == "unit" || !valid.y.defined()) return unit;
    const int64_t n = std::min(kRows, valid.y.size(0));
    const LastLayerRows rows{valid.features.narrow(0, 0, n), valid.output.narrow(0, 0, n)};
    double best = unit, least = std::numeric_limits<double>::infinity();
    for (int step = -8; step <= 4; ++step) {
      const double sd = unit * std::pow(10.0, 0.25 * step);
      LastLayerPosterior tried = posterior;
      tried.prior_factor = sd * posterior.prior_factor;
      const double score = *mean_nll(class_answer(latent_at(tried.outputs(), rows)), valid.y.narrow(0, 0, n));
      if (score < least) least = score, best = sd;
    }
    return best;
  }

  LastLayer layer_;
};

}  // namespace

std::unique_ptr<Method> last_layer_method(LastLayer layer) {
  return std::make_unique<LastLayerMethod>(std::move(layer));
}

std::unique_ptr<Fitted> load_last_layer(LastLayer layer, const TensorFile& file) {
  NetworkFile net = network_file(file);
  const Network::Lookup lookup = as_type(net.weights, at::kDouble);
  const LastLayerFeatures features(net.spec, as_type(net.weights, at::kFloat), layer.method);
  LastLayerPosterior posterior{lookup(kPriorFactor), {}, layer.posterior.class_noise};
  check_shape(posterior.prior_factor, {features.rank(), features.rank()}, layer.method, kPriorFactor);
  for (int64_t c = 0; c < features.outputs(); ++c)
    posterior.statistics.push_back(
        statistics_from(lookup, features.rank(), fmt::format("statistics.{}.", c)));
  TrainedNetwork network{std::move(net.spec), {}, 0, net.summary};
  if (net.weights.contains(kNoiseVar)) {
    posterior.noise_var = stored_positive(lookup, kNoiseVar, layer.method);
    network.noise_var = stored_positive(lookup, kNetworkNoise, layer.method);
  }
  network.weights = network_weights(net.weights);
  return std::make_unique<LastLayerFitted>(std::move(layer), std::move(network), std::move(posterior),
                                           std::move(net.summary), PosteriorChoice{});
}

}  // namespace slimbayes
