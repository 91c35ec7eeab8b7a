#include "slimbayes/methods/last_layer/fitted_last_layer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "slimbayes/answers/likelihoods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/stored_statistics.h"

namespace slimbayes {

namespace {

constexpr const char* kTargetVar = "target_var";      // variance of the targets of a module
constexpr const char* kPriorFactor = "prior_factor";  // T, the prior covariance of the weights is T T^T
constexpr const char* kSampled = "sampled";           // LastLayerPosterior::sampled, 0 or 1

/// Returns whether the prior is so wide compared with the noise that answers need float64 features. The
/// posterior then has a spectrum in place of a Cholesky factor (identity_plus).
bool is_wide(const std::vector<LinearPosterior>& outputs) {
  return std::ranges::any_of(outputs,
                             [](const LinearPosterior& one) { return !one.precision.factor.defined(); });
}

}  // namespace

std::vector<LinearPosterior> LastLayerPosterior::outputs() const {
  std::vector<LinearPosterior> all;
  for (const LinearStatistics& s : statistics)
    all.push_back(linear_posterior(s, {noise_var, prior_factor, /*fit_mean=*/false}));
  return all;
}

EvaluatedRows evaluated(const LastLayerFeatures& network, const Dataset& data, at::Device device) {
  const at::TensorOptions doubles = at::dtype(at::kDouble).device(device);
  EvaluatedRows all{at::empty({data.size(), network.rank()}, doubles),
                    at::empty({data.size(), network.outputs()}, doubles), at::empty({data.size()}, doubles),
                    on_device(data.weights(), device)};
  int64_t from = 0;
  over_evaluated(network, data, [&](const EvaluatedRows& rows) {
    const int64_t b = rows.y.size(0);
    all.features.narrow(0, from, b).copy_(rows.features);
    all.output.narrow(0, from, b).copy_(rows.output);
    all.y.narrow(0, from, b).copy_(rows.y);
    from += b;
  });
  return all;
}

void over_evaluated(const LastLayerFeatures& network, const Dataset& data,
                    const std::function<void(const EvaluatedRows& rows)>& each) {
  PredictOptions options;
  options.gradients = network.needs_gradients();
  over_batches(data, options, [&](const Batch& batch) {
    const LastLayerRows rows = network(input_of(batch, network.type()));
    each({rows.features.detach().to(at::kDouble), rows.output.detach().to(at::kDouble),
          batch.target.to(at::kDouble), batch.weight});
  });
}

LinearRows rows_of_output(const EvaluatedRows& rows, int64_t c, bool regression) {
  if (regression) return {rows.features, rows.y - rows.output.squeeze(-1), {}, rows.weight};
  at::Tensor features = rows.features, weight = rows.weight;
  if (rows.output.size(1) > 1) {
    const at::Tensor own = at::nonzero(rows.y == c).squeeze(1);
    features = features.index_select(0, own);
    if (weight.defined()) weight = weight.index_select(0, own);
  }
  return {features, at::zeros({features.size(0)}, doubles_like(features)), {}, weight};
}

Latent latent_at(const std::vector<LinearPosterior>& outputs, const LastLayerRows& rows) {
  const at::Tensor features = rows.features.to(at::kDouble);
  std::vector<at::Tensor> vars;
  for (const LinearPosterior& one : outputs) vars.push_back(epistemic_var(one, features));
  return {rows.output.to(at::kDouble), at::stack(vars, 1)};
}

Predictive class_answer(const Latent& f) {
  const Likelihood likelihood =
      f.mean.size(1) == 1 ? Likelihood(BernoulliLikelihood{}) : Likelihood(SoftmaxLikelihood{Stream(0)});
  return predictive(likelihood, f);
}

FittedLastLayer::FittedLastLayer(LastLayer layer, TrainedNetwork network, const LastLayerPosterior& posterior,
                                 Summary summary, PosteriorChoice choice)
    : layer_(std::move(layer)),
      trained_(std::make_shared<TrainedNetwork>(std::move(network))),
      outputs_(posterior.outputs()),
      sampled_(posterior.sampled),
      summary_(std::move(summary)),
      choice_(std::move(choice)),
      network_(answer_features(*trained_, is_wide(outputs_), layer_.method, layer_.sketch)) {
  check_posteriors();
}

FittedLastLayer::FittedLastLayer(const FittedLastLayer& before, std::vector<LinearPosterior> outputs,
                                 int64_t rows, bool sampled)
    : layer_(before.layer_),
      trained_(before.trained_),
      outputs_(std::move(outputs)),
      sampled_(sampled),
      summary_(before.summary_),
      choice_(before.choice_),
      network_(is_wide(outputs_) == is_wide(before.outputs_)
                   ? before.network_
                   : answer_features(*trained_, is_wide(outputs_), layer_.method, layer_.sketch)) {
  summary_.rows = rows;
}

std::unique_ptr<ExactPosterior> FittedLastLayer::updated(const Dataset& add, const Dataset& drop) const {
  if (drop.size() > 0) check_all_rows_known();
  std::vector<LinearPosterior> outputs = outputs_;
  const LastLayerFeatures features =
      exact_ ? *exact_ : statistics_features(*trained_, layer_.method, layer_.sketch);
  for (const bool adds : {true, false}) {
    const Dataset& given = adds ? add : drop;
    if (given.size() == 0) continue;
    const EvaluatedRows rows = evaluated(features, training_rows(given, layer_.method));
    for (size_t c = 0; c < outputs.size(); ++c) {
      const LinearRows own = rows_of_output(rows, static_cast<int64_t>(c), regression());
      if (own.y.size(0) == 0) continue;
      const double yy = outputs[c].statistics.yy;
      outputs[c] = adds ? added(std::move(outputs[c]), own) : removed(std::move(outputs[c]), own);
      if (posterior_mean())
        check_exact_mean(std::max(yy, outputs[c].statistics.yy), outputs[c].model, layer_.method);
    }
  }
  auto after = std::make_unique<FittedLastLayer>(*this, std::move(outputs),
                                                 summary_.rows + add.size() - drop.size(), sampled_);
  after->exact_ = features;
  return after;
}

std::unique_ptr<Fitted> FittedLastLayer::with_noise(double var) const {
  if (!regression() || !(var > outputs_[0].model.sigma2)) return nullptr;
  LinearModel model = outputs_[0].model;
  model.sigma2 = var;
  auto raised = std::make_unique<FittedLastLayer>(
      *this, std::vector{linear_posterior(outputs_[0].statistics, model)}, summary_.rows, sampled_);
  raised->summary_.facts.push_back(raised_noise_fact(var));
  return raised;
}

std::unique_ptr<ExactPosterior> FittedLastLayer::prior() const {
  std::vector<LinearPosterior> outputs;
  for (const LinearPosterior& one : outputs_)
    outputs.push_back(linear_posterior(linear_statistics(network_.rank()), one.model));
  return std::make_unique<FittedLastLayer>(*this, std::move(outputs), 0, /*sampled=*/false);
}

std::unique_ptr<ExactPosterior> FittedLastLayer::merged(const ExactPosterior& other) const {
  const auto* same = dynamic_cast<const FittedLastLayer*>(&other);
  check(same != nullptr && same->layer_.method == layer_.method && same_network(*same->trained_, *trained_),
        layer_.method, "posteriors around the same network", "others",
        "make shards of one model: update `.shard`");
  check(same->posterior_mean() == posterior_mean(), layer_.method, "posteriors with the same option mean",
        "network and posterior", "make shards of one model: update `.shard`");
  const LinearModel &mine = outputs_[0].model, &theirs = same->outputs_[0].model;
  check(mine.sigma2 == theirs.sigma2 && at::equal(mine.prior_factor, theirs.prior_factor), layer_.method,
        "posteriors with the same noise and prior", "others", "make shards of one model: update `.shard`");
  std::vector<LinearPosterior> outputs;
  for (size_t c = 0; c < outputs_.size(); ++c)
    outputs.push_back(linear_posterior(
        slimbayes::merged(outputs_[c].statistics, same->outputs_[c].statistics), outputs_[c].model));
  return std::make_unique<FittedLastLayer>(*this, std::move(outputs), summary_.rows + same->summary_.rows,
                                           sampled_ || same->sampled_);
}

std::optional<engine::RowSpec> FittedLastLayer::row_spec() const {
  if (!regression()) return {};
  auto features = last_layer_spec(*trained_, network_.type(), layer_.sketch);
  if (!features) return {};
  return engine::RowSpec{engine::LinearRows{std::move(*features), head_for_answers(outputs_[0])}};
}

std::optional<engine::AnswerSpec> FittedLastLayer::answer_spec() const {
  if (regression()) return row_spec();
  auto features = last_layer_spec(*trained_, network_.type(), layer_.sketch);
  if (!features) return {};
  engine::IndependentLogits logits{std::move(*features)};
  for (const LinearPosterior& one : outputs_) logits.heads.push_back(head_for_answers(one));
  return engine::ClassSpec{std::move(logits)};
}

engine::LinearHead FittedLastLayer::head_for_answers(const LinearPosterior& posterior) const {
  const auto& last = std::get<Linear>(trained_->spec.layers.back());
  const bool own_mean = regression() && posterior_mean();
  engine::LinearHead head = head_of(posterior);
  if (!own_mean) {
    head.constant = 0;
    std::ranges::fill(head.weights, 0);
  }
  if (layer_.sketch == 0)  // a sketch has the scaled features
    head = of_scaled_features(std::move(head), network_.rank() - (last.bias ? 1 : 0), last.scales.weight,
                              last.scales.bias);
  if (!own_mean) head.weights.clear();
  return head;
}

std::optional<LastLayerFeatures> FittedLastLayer::moved_to(at::Device device) const {
  if (device.is_cpu()) return {};
  return answer_features(*trained_, is_wide(outputs_), layer_.method, layer_.sketch, device);
}

Predictive FittedLastLayer::predict(const Dataset& data, const PredictOptions& options) const {
  PredictOptions own = options;
  own.device = device_for(*trained_, options.device);
  own.gradients = network_.needs_gradients();
  const bool here = own.device.is_cpu();
  if (const auto rows = here ? row_model() : nullptr; rows && are_rows(data))
    return predict_by_rows(*rows, data, trained_->spec.input, network_.type(), options, layer_.method);
  const std::optional<LastLayerFeatures> moved = moved_to(own.device);
  const LastLayerFeatures& features = moved ? *moved : network_;
  return predict_rows(data, trained_->spec.input, network_.type(), own, layer_.method,
                      [&](const Input& input) { return answer(on_cpu(features(input))); });
}

Scores FittedLastLayer::ood(const Dataset& data, const PredictOptions& options) const {
  if (regression()) return {};
  PredictOptions own = options;
  own.device = device_for(*trained_, options.device);
  own.gradients = network_.needs_gradients();
  const std::optional<LastLayerFeatures> moved = moved_to(own.device);
  const LastLayerFeatures& features = moved ? *moved : network_;
  const Latent f =
      latent_rows(data, trained_->spec.input, network_.type(), own, layer_.method,
                  [&](const Input& input) { return latent_at(outputs_, on_cpu(features(input))); });
  return logit_scores(f);
}

TensorFile FittedLastLayer::save() const {
  Weights all = trained_->weights;
  all[kPriorFactor] = outputs_[0].model.prior_factor;
  all[kSampled] = at::full({}, sampled_ ? 1 : 0, at::kDouble);
  if (regression()) {
    store_noise(outputs_[0].model.sigma2, all);
    if (trained_->module) all[kTargetVar] = at::full({}, trained_->target_var, at::kDouble);
  }
  for (size_t c = 0; c < outputs_.size(); ++c)
    store_statistics(outputs_[c].statistics, all, fmt::format("statistics.{}.", c));
  return to_file(NetworkFile{layer_.options, trained_->head, trained_->spec, std::move(all), summary_,
                             trained_->module});
}

void FittedLastLayer::check_posteriors() const {
  if (outputs_.empty() || static_cast<int64_t>(outputs_.size()) != network_.outputs())
    refuse(layer_.method, "a posterior for each output", fmt::format("{} posteriors", outputs_.size()),
           "the model file is damaged");
  if (outputs_[0].statistics.rank() != network_.rank())
    refuse(layer_.method, fmt::format("posteriors of the {} features", network_.rank()),
           std::to_string(outputs_[0].statistics.rank()), "the model file is damaged");
}

void FittedLastLayer::check_all_rows_known() const {
  const LastLayerOptions& o = layer_.posterior;
  if (sampled_ && o.subsample != 0)
    refuse(layer_.method, "a posterior of all rows to remove rows from",
           regression() ? fmt::format("one of a subsample ({})", o.subsample)
                        : fmt::format("one of a sample (`.subsample={}`, `.class_rows={}`)", o.subsample,
                                      o.class_rows),
           regression() ? "fit without `.subsample`"
                        : "fit without `.subsample` and with a larger `.class_rows`");
  if (sampled_)
    refuse(layer_.method, "a posterior of all rows to remove rows from",
           fmt::format("one of at most {} rows per class", o.class_rows), "fit with a larger `.class_rows`");
}

Predictive FittedLastLayer::answer(const LastLayerRows& rows) const {
  const Latent f = latent_at(outputs_, rows);
  if (!regression()) return class_answer(f);
  at::Tensor centre = f.mean.squeeze(-1);
  if (posterior_mean()) centre = centre + mean(outputs_[0], rows.features);
  return Regression{centre, at::full_like(centre, outputs_[0].model.sigma2), f.epistemic_var.squeeze(-1)};
}

std::unique_ptr<Fitted> load_last_layer(LastLayer layer, const TensorFile& file) {
  NetworkFile net = network_file(file);
  const Network::Lookup lookup = as_type(net.weights, at::kDouble);
  TrainedNetwork network{std::move(net.spec), network_weights(net.weights), net.head, net.summary,
                         net.module};
  const LastLayerFeatures features = last_layer_features(network, layer.method, layer.sketch);
  LastLayerPosterior posterior{lookup(kPriorFactor), {}, layer.posterior.class_noise};
  check_shape(posterior.prior_factor, {features.rank(), features.rank()}, layer.method, kPriorFactor);
  for (int64_t c = 0; c < features.outputs(); ++c)
    posterior.statistics.push_back(
        statistics_from(lookup, features.rank(), fmt::format("statistics.{}.", c)));
  check_shape(lookup(kSampled), {}, layer.method, kSampled);
  posterior.sampled = lookup(kSampled).item<double>() != 0;
  if (net.head.is_regression()) {
    if (features.outputs() != 1)
      refuse(layer.method, "one output of a regression", std::to_string(features.outputs()),
             "the model file is damaged");
    posterior.noise_var = stored_noise(net.weights, net.head, layer.method);
    if (network.module) network.target_var = stored_positive(lookup, kTargetVar, layer.method);
  }
  return std::make_unique<FittedLastLayer>(std::move(layer), std::move(network), posterior,
                                           std::move(net.summary), PosteriorChoice{});
}

}  // namespace slimbayes
