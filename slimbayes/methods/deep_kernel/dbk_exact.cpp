#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "slimbayes/answers/likelihood.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/notes.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/stored_statistics.h"
#include "slimbayes/methods/deep_kernel/dbk_exact_options.h"
#include "slimbayes/methods/deep_kernel/exact_features.h"
#include "slimbayes/methods/deep_kernel/rows.h"
#include "slimbayes/objectives/exact_bound.h"

// dbk-exact: a deep basis kernel trained on the exact log evidence (paper N of docs/references.md, section
// 3.1, algorithm 1; paper E, section 3.1). N-11 is equation 11 of N, E-12 equation 12 of E.
//
// Model       As dbk: f(x) = c + <w, phi(x)>, w ~ N(0, I), y = f + noise.
// Estimator   Full-batch steps on log p(y) (N-11) minus alpha times the trace regulariser (E-11) train
//             network, basis and noise; basis rbf uses its collapsed bound (N-3). The posterior of the
//             weights is exact, in float64. c is the generalised least-squares mean; its variance is part of
//             the epistemic variance. The option `correction` applies E-12: the noise variance of row x is
//             multiplied by D = 1 + gap(x) / noise, where gap(x) = M - ||phi(x)||^2 is the prior variance
//             that phi(x) lacks, with M the largest ||phi||^2 of the training rows.
// Cost        O(n (h^2 + r h + r^2) + r^3) per step for h hidden units and r features. Memory is O(chunk (h +
//             r)), independent of n: pass 1 sums Phi^T Phi and Phi^T y over chunks of rows without a graph;
//             pass 2 propagates the gradient of these sums back through each chunk. Validation after a step
//             takes the sums of the next step.
// Deviations  dbk's schedule and noise floor, a learning rate of 1e-2, and a noise variance that starts at
//             0.1. The last chunk of pass 1 keeps its graph for pass 2.

namespace slimbayes {

namespace {

constexpr const char* kDbkExact = "dbk-exact";
constexpr const char* kLargestPriorVar =
    "largest_prior_var";  // in the model file: M, the largest ||phi||^2 (E-12)
constexpr int64_t kRank = 128;

/// The sufficient statistics of the exact posterior, summed over the training rows. On the CPU.
struct Conditioned {
  LinearStatistics statistics;
  at::Tensor largest;  // M, the largest ||phi||^2, scalar; undefined without the option `correction`
};

/// Returns the statistics of these rows. With the option `correction` a first pass finds M, because the
/// relative noise variance D of each row depends on it (E-12).
Conditioned conditioned(const ExactFeatures& model, const Dataset& all, const DbkExactOptions& options,
                        const Collective* ranks) {
  at::NoGradGuard no_grad;
  Conditioned out{linear_statistics(model.map.rank()), {}};
  at::Tensor largest;  // on the device of the rows
  double noise = model.noise_var();
  const RankRows own = rows_of_rank(all, ranks);
  const Dataset& rows = own.rows;
  const int64_t n = rows.size();
  for (bool measure : {true, false}) {
    if (measure && !options.correction) continue;
    on_all_ranks(own.ranks, [&] {
      for (int64_t low = 0; low < n; low += options.chunk) {
        const Batch batch = chunk_of(rows, low, options.chunk);
        at::Tensor phi = model(model.input(batch)).features.to(at::kDouble);
        at::Tensor prior_var = phi.square().sum(1);
        if (measure) {
          at::Tensor here = prior_var.max();
          largest = largest.defined() ? at::maximum(largest, here) : here;
          continue;
        }
        at::Tensor d;
        if (options.correction) d = 1 + (largest - prior_var) / noise;
        out.statistics = added(std::move(out.statistics), {phi, batch.target, d, batch.weight});
      }
    });
    if (measure && own.ranks != nullptr) largest = own.ranks->gather(largest).max();
  }
  out.largest = on_cpu(largest);
  out.statistics = summed(out.statistics, own.ranks);
  return out;
}

/// Returns the mean, noise variance and epistemic variance at the rows x, on the CPU. `largest` is
/// Conditioned::largest. Only `model` is on the device of the rows.
Regression answer(const ExactFeatures& model, const LinearPosterior& posterior, const at::Tensor& largest,
                  const Input& x) {
  const Expansion given = model(x);
  const Expansion phi{on_cpu(given.features), on_cpu(given.correction)};
  at::Tensor features = phi.features.to(at::kDouble);
  RoundedVariance extra = missing_prior_var(phi, largest);
  at::Tensor centre = mean(posterior, features);
  return {centre, at::full_like(centre, posterior.model.sigma2),
          epistemic_var(posterior, features) + extra.var, extra.clipped};
}

class DbkExactFitted : public ExactPosterior {
 public:
  DbkExactFitted(DbkExactOptions options, NetworkSpec spec, Weights weights, Summary summary)
      : options_(std::move(options)),
        spec_(std::move(spec)),
        weights_(std::move(weights)),
        summary_(std::move(summary)),
        model_(options_.basis, options_.noise, spec_, as_type(weights_, at::kDouble)),
        largest_(stored_largest()),
        posterior_(linear_posterior(statistics_from(as_type(weights_, at::kDouble), model_.map.rank()),
                                    {model_.noise_var(), {}, /*fit_mean=*/true})) {}

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    const bool on_host = options.device.is_cpu();
    if (const auto rows = on_host ? row_model() : nullptr; rows && are_rows(data))
      return predict_by_rows(*rows, data, spec_.input, at::kDouble, options, kDbkExact);
    std::optional<ExactFeatures> moved;
    if (!on_host)
      moved.emplace(options_.basis, options_.noise, spec_,
                    as_type(weights_, at::dtype(at::kDouble).device(options.device)));
    const ExactFeatures& model = moved ? *moved : model_;
    return predict_rows(data, spec_.input, at::kDouble, options, kDbkExact,
                        [&](const Input& x) { return answer(model, posterior_, largest_, x); });
  }

  std::unique_ptr<ExactPosterior> updated(const Dataset& add, const Dataset& drop) const override {
    LinearPosterior posterior = posterior_;
    for (const bool adds : {true, false}) {
      const Dataset& given = adds ? add : drop;
      if (given.size() == 0) continue;
      training_rows(given, kDbkExact);
      over_batches(given, {options_.chunk}, [&](const Batch& batch) {
        const at::Tensor phi = model_(model_.input(batch)).features.to(at::kDouble);
        at::Tensor d;
        if (options_.correction)  // nothing is missing above M
          d = 1 + (largest_ - phi.square().sum(1)).clamp_min(0) / model_.noise_var();
        const LinearRows rows{phi, batch.target.to(at::kDouble), d, batch.weight};
        const double yy = posterior.statistics.yy;
        posterior = adds ? added(std::move(posterior), rows) : removed(std::move(posterior), rows);
        check_exact_mean(std::max(yy, posterior.statistics.yy), posterior.model, kDbkExact);
      });
    }
    return with_statistics(posterior.statistics, summary_.rows + add.size() - drop.size());
  }

  std::unique_ptr<ExactPosterior> prior() const override {
    return with_statistics(linear_statistics(options_.rank, posterior_.statistics.y_shift), 0);
  }

  std::unique_ptr<ExactPosterior> merged(const ExactPosterior& other) const override {
    const auto* same = dynamic_cast<const DbkExactFitted*>(&other);
    check(same != nullptr && options_to_json(same->options_) == options_to_json(options_) &&
              same_but_statistics(same->weights_, weights_),
          kDbkExact, "posteriors of the same features, noise and prior", "others",
          "make shards of one model: update `.shard`");
    return with_statistics(slimbayes::merged(posterior_.statistics, same->posterior_.statistics),
                           summary_.rows + same->summary_.rows);
  }

  TensorFile save() const override {
    return to_file(NetworkFile{options_to_json(options_), Head{}, spec_, weights_, summary_});
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::RowSpec> row_spec() const override {
    auto features = feature_spec(spec_, options_.basis, model_.map.rank(), as_type(weights_, at::kDouble),
                                 at::kDouble, engine::FeaturesOf::outputs);
    if (!features) return {};
    engine::LinearHead head = head_of(posterior_);
    if (largest_.defined()) head.largest = largest_.item<double>();
    head.prior_var = model_.map.kernel_var();
    return engine::RowSpec{engine::LinearRows{std::move(*features), std::move(head)}};
  }

 private:
  /// Returns the model with the posterior for these statistics of `rows` rows.
  std::unique_ptr<ExactPosterior> with_statistics(const LinearStatistics& statistics, int64_t rows) const {
    Weights weights = weights_;
    store_statistics(statistics, weights);
    Summary summary = summary_;
    summary.rows = rows;
    return std::make_unique<DbkExactFitted>(options_, spec_, std::move(weights), std::move(summary));
  }

  at::Tensor stored_largest() const {
    if (!options_.correction) return {};
    at::Tensor largest = as_type(weights_, at::kDouble)(kLargestPriorVar);
    check_shape(largest, {}, kDbkExact, kLargestPriorVar);
    return largest;
  }

  DbkExactOptions options_;
  NetworkSpec spec_;
  Weights weights_;  // float32, as trained; statistics in float64
  Summary summary_;
  ExactFeatures model_;  // float64
  at::Tensor largest_;   // M, see Conditioned
  LinearPosterior posterior_;
};

class DbkExactMethod : public Method {
 public:
  explicit DbkExactMethod(DbkExactOptions options) : options_(std::move(options)) {
    bool own = options_.basis == "rbf" && (options_.alpha > 0 || options_.correction);
    if (own)
      refuse(kDbkExact, "alpha 0 and no correction with basis rbf",
             fmt::format("alpha {} and correction {}", options_.alpha, options_.correction),
             "inducing points have a correction of their own (N-3), which is always on");
  }

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset rows = training_rows(split.train, kDbkExact, context.device);
    const Dataset held_out = validation_rows(split.valid, rows, kDbkExact);
    DbkExactOptions options = resolved(rows.size());
    const Schema& schema = split.train.schema;
    NetworkSpec spec = network_for(options.network, schema.input, schema.tokens);
    check_exact_network(spec, kDbkExact);
    Parameters parameters = exact_parameters({options.basis, options.rank, options.noise}, spec,
                                             context.stream.split("start"), rows.device());
    ExactFeatures model(
        options.basis, options.noise, spec, [&](const std::string& name) { return parameters[name]; },
        context.execution);
    TrainProblem problem;
    problem.score = score_name(schema.task, "NLL");
    problem.groups = exact_groups(parameters, options.training, options.noise);
    problem.rows = rows.size();
    problem.ranks = context.ranks;
    // A step reads its rows itself. The default plan would keep a permutation of all of them.
    problem.plan = [](const Stream&) { return EpochBatches({at::empty({0}, at::kLong)}); };
    problem.trained_by = model.map.by_engine() ? "engine" : "libtorch";
    ExactTraining exact(model, rows, options.alpha, options.chunk, parameters.blocks(), context.ranks);
    problem.step = [&](const Batch&, const StepContext&) { return exact.step(); };
    if (held_out.size() > 0) {
      problem.validate = [&] {
        Conditioned now;
        if (options.correction) now = conditioned(model, rows, options, context.ranks);
        const LinearPosterior posterior =
            options.correction ? linear_posterior(now.statistics, {model.noise_var(), {}, true})
                               : exact.bound().posterior;
        const auto loss = [&](const Input& x, const at::Tensor& y) {
          Regression p = answer(model, posterior, now.largest, x);
          const at::Tensor log_density = GaussianLikelihood{p.aleatoric_var}.log_predictive(
              {p.mean, p.epistemic_var}, on_cpu(y).to(at::kDouble));
          return on_device(-log_density, y.device());
        };
        return mean_over_rows(held_out, loss, context.ranks);
      };
    }
    TrainingOptions training = options.training;
    training.batch = rows.size();  // full batch: one step per epoch
    Summary summary =
        train(problem, training, context.stream.split("train"), context.callback, context.checkpoint);
    summary.valid_rows = split.valid.size();
    if (summary.valid_rows == 0) summary.notes.emplace_back(evidence_overfits());
    summary.jitter = model.map.jitter();
    Weights weights = snapshot(parameters);
    ExactFeatures final_model(options.basis, options.noise, spec,
                              as_type(weights, at::dtype(at::kDouble).device(rows.device())));
    Conditioned all = conditioned(final_model, rows, options, context.ranks);
    store_statistics(all.statistics, weights);
    if (all.largest.defined()) weights[kLargestPriorVar] = all.largest;
    return std::make_unique<DbkExactFitted>(std::move(options), std::move(spec), std::move(weights),
                                            std::move(summary));
  }

 private:
  DbkExactOptions resolved(int64_t n) const {
    DbkExactOptions options = options_;
    if (options.rank == 0) options.rank = std::min(kRank, n);
    if (!(options.rank <= n))
      refuse(kDbkExact, fmt::format("a rank of at most the {} training rows", n),
             std::to_string(options.rank), "lower rank, or 0 to have it chosen");
    return options;
  }

  DbkExactOptions options_;
};

std::unique_ptr<Method> make_dbk_exact(const nlohmann::json& options) {
  return std::make_unique<DbkExactMethod>(options_from_json<DbkExactOptions>(options, kDbkExact));
}

std::unique_ptr<Fitted> load_dbk_exact(const TensorFile& file) {
  at::NoGradGuard no_grad;
  NetworkFile net = network_file(file);
  return std::make_unique<DbkExactFitted>(options_from_json<DbkExactOptions>(net.options, kDbkExact),
                                          std::move(net.spec), std::move(net.weights),
                                          std::move(net.summary));
}

}  // namespace

RegistryRow dbk_exact_row() { return {"dbk-exact", make_dbk_exact, load_dbk_exact}; }

}  // namespace slimbayes
