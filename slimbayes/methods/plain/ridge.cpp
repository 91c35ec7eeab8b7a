#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "slimbayes/core/check.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/log_range.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/rank_rows.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/stored_statistics.h"
#include "slimbayes/methods/plain/plain_options.h"
#include "slimbayes/methods/plain/rows.h"

// ridge: a Bayesian linear regression (MacKay 1992).
//
// Model       y = c + w^T x + noise, w ~ N(0, s^2 I), a flat prior of c. x are the encoded columns, of a
//             window those of all its rows.
// Estimator   s and the noise variance maximise the evidence with c integrated out. With rho = s^2 / noise,
//             X and y centred and X^T X = V L V^T, the evidence of rho at its best noise needs only L and
//             V^T X^T y: one eigendecomposition serves the whole search. Row weights enter all of these sums,
//             and their sum is n.
// Cost        O(n d^2 + d^3) once; O(d^2) for each predicted variance.
// When        As the rival of every other method: one that loses to it should not be used.

namespace slimbayes {

namespace {

constexpr const char* kRidge = "ridge";

/// Rows of any shape as vectors. [b, ...] -> [b, d]
at::Tensor flat(const at::Tensor& x) { return x.flatten(1); }

int64_t width_of(const Shape& input) {
  return std::accumulate(input.sizes.begin(), input.sizes.end(), int64_t{1}, std::multiplies<>());
}

LinearStatistics statistics_of(const Dataset& rows, const Collective* ranks) {
  LinearStatistics s = linear_statistics(width_of(rows.schema.input));
  const RankRows own = rows_of_rank(rows, ranks);
  on_all_ranks(own.ranks, [&] {
    over_batches(own.rows, {}, [&](const Batch& batch) {
      s = added(std::move(s),
                {flat(input_of(batch, at::kDouble).x), batch.target.to(at::kDouble), {}, batch.weight});
    });
  });
  return summed(s, own.ranks);
}

/// The noise variance and the prior variance of the weights.
struct RidgeVariances {
  double noise, prior;
};

/// Returns the variances with the greatest evidence of the statistics, the noise at least `floor`. Throws
/// NumericalError as spectrum() does.
RidgeVariances chosen_variances(const LinearStatistics& s, double floor) {
  const double n = s.n;
  const Spectrum centred = spectrum(s.S - at::outer(s.ones_phi, s.ones_phi) / n);
  const at::Tensor values = centred.values.clamp_min(0);  // of a Gram matrix; below 0 by rounding alone
  const at::Tensor along = at::mv(centred.vectors.t(), s.c - s.ones_phi * (s.ones_y / n)).square();
  const double total = std::max(0.0, s.yy - s.ones_y * s.ones_y / n), free = std::max(1.0, n - 1);
  const auto noise_at = [&](double rho) {
    return std::max(floor, (total - (along / (values + 1 / rho)).sum().item<double>()) / free);
  };
  const auto score = [&](double rho) {  // -2 log evidence, without constants
    const double noise = noise_at(rho);
    const double misfit = total - (along / (values + 1 / rho)).sum().item<double>();
    return free * std::log(noise) + misfit / noise + (rho * values).log1p().sum().item<double>();
  };
  const double scale = std::max(values.mean().item<double>(), 1e-12);  // the range is relative to the columns
  const LeastScore best = least_score({1e-8 / scale, 1e8 / scale}, score);
  if (!std::isfinite(best.score))
    throw NumericalError("[ridge] expected a finite evidence; received none; look for extreme columns");
  const double noise = noise_at(best.at);
  return {noise, best.at * noise};
}

class RidgeFitted : public Fitted {
 public:
  RidgeFitted(const RidgeOptions& options, Shape input, LinearStatistics statistics, RidgeVariances variances,
              Summary summary)
      : options_(options),
        input_(std::move(input)),
        variances_(variances),
        summary_(std::move(summary)),
        posterior_(linear_posterior(
            statistics, {variances.noise, at::full({}, std::sqrt(variances.prior), at::kDouble), true})) {}

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    at::NoGradGuard no_grad;
    const auto lookup = [&](const std::string& name) { return stored_tensor(file, name); };
    const at::Tensor variances = lookup("variances");
    check_shape(variances, {2}, kRidge, "variances");
    const auto value = [&](int64_t i) { return variances[i].to(at::kDouble).item<double>(); };
    if (!(value(0) > 0 && value(1) > 0 && std::isfinite(value(0)) && std::isfinite(value(1))))
      refuse(kRidge, "variances above 0", fmt::format("{} and {}", value(0), value(1)));
    Shape input = shape_from_json(stored_json(file, "input"));
    const int64_t width = width_of(input);
    auto options = options_from_json<RidgeOptions>(stored_json(file, "options"), kRidge);
    if (!(width <= options.max_columns)) refuse(kRidge, "at most max_columns columns", std::to_string(width));
    return std::make_unique<RidgeFitted>(options, std::move(input), statistics_from(lookup, width),
                                         RidgeVariances{value(0), value(1)},
                                         summary_from_json(stored_json(file, "summary")));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    if (const auto rows = row_model())
      return predict_by_rows(*rows, data, input_, at::kDouble, options.on_host(), kRidge);
    return predict_rows(data, input_, at::kDouble, options.on_host(), kRidge, [this](const Input& rows) {
      const at::Tensor x = flat(rows.x), mean = slimbayes::mean(posterior_, x);
      return Regression{mean, at::full_like(mean, variances_.noise), epistemic_var(posterior_, x)};
    });
  }

  std::unique_ptr<Fitted> with_noise(double var) const override {
    if (var <= variances_.noise) return nullptr;
    return std::make_unique<RidgeFitted>(options_, input_, posterior_.statistics,
                                         RidgeVariances{var, variances_.prior}, summary_);
  }

  TensorFile save() const override {
    TensorFile file;
    file.metadata["options"] = options_to_json(options_).dump();
    file.metadata["summary"] = to_json(summary_).dump();
    file.metadata["input"] = to_json(input_).dump();
    Weights all = {{"variances", at::tensor({variances_.noise, variances_.prior}, at::kDouble)}};
    store_statistics(posterior_.statistics, all);
    for (const auto& [name, value] : all) file.tensors[name] = to_stored(value);
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::RowSpec> row_spec() const override {
    return engine::RowSpec{engine::LinearRows{{.inputs = width_of(input_)}, head_of(posterior_)}};
  }

 private:
  RidgeOptions options_;
  Shape input_;
  RidgeVariances variances_;
  Summary summary_;
  LinearPosterior posterior_;
};

class RidgeMethod : public Method {
 public:
  explicit RidgeMethod(const RidgeOptions& options) : options_(options) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    at::NoGradGuard no_grad;
    const auto begin = std::chrono::steady_clock::now();
    const Dataset rows = training_rows(split.train, kRidge);
    const int64_t width = width_of(rows.schema.input);
    if (!(width <= options_.max_columns))
      refuse(kRidge, fmt::format("at most {} encoded columns (max_columns)", options_.max_columns),
             std::to_string(width), "raise `.max_columns` if time and memory permit");
    LinearStatistics statistics = statistics_of(rows, context.ranks);
    const RidgeVariances variances = chosen_variances(statistics, options_.noise_floor);
    Summary summary;
    summary.rows = rows.size();
    summary.stopped = Stopped::converged;
    summary.facts.push_back(fmt::format("noise sd {:.3g}, prior sd of a weight {:.3g}, by the evidence",
                                        std::sqrt(variances.noise), std::sqrt(variances.prior)));
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::make_unique<RidgeFitted>(options_, rows.schema.input, std::move(statistics), variances,
                                         std::move(summary));
  }

 private:
  RidgeOptions options_;
};

std::unique_ptr<Method> make_ridge(const nlohmann::json& options) {
  return std::make_unique<RidgeMethod>(options_from_json<RidgeOptions>(options, kRidge));
}

std::unique_ptr<Fitted> load_ridge(const TensorFile& file) { return RidgeFitted::load(file); }

}  // namespace

RegistryRow ridge_row() { return {"ridge", make_ridge, load_ridge}; }

}  // namespace slimbayes
