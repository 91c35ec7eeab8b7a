#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/methods/dense_gp/dense_gp.h"
#include "slimbayes/methods/dense_gp/gp_exact_options.h"
#include "slimbayes/methods/dense_gp/rows.h"

// gp-exact: the dense Gaussian process, the reference for the low-rank methods (Rasmussen and Williams 2006,
// ch. 2, 5).
//
// Model       f ~ GP(c, s exp(-1/2 sum_j (x_j - x'_j)^2 / l_j^2)), y = f + noise. A row of weight w is w
//             equal rows: one row whose noise variance is noise / w.
// Estimator   L-BFGS on the log evidence (methods/dense_gp/dense_gp.cpp) fits log l, log s, log noise and c.
//             It starts at noise 0.1 and l = sqrt(d) on d standardised inputs. The evidence of few rows has
//             several maxima, one of which explains everything by noise. Up to 300 rows, six more searches
//             therefore start from other lengthscales and noises. After twenty iterations the two with the
//             greatest evidence go on, and the greater one at their ends is kept. The reported steps are the
//             sum over all searches.
// Cost        O(n^3) time and O(n^2) memory, at the fit and whenever a model file is opened; hence the option
//             max_rows. O(n^2) per predicted variance.
// Equal rows  The evidence takes rows with equal inputs and targets, and the count of a row, for targets
//             without noise between them: its maximum may then have almost no noise (equal_rows_note).
// Deviations  The hyperparameters are fitted on at most evidence_rows rows. Validation rows are not used,
//             because nothing is selected; a score on them is unbiased.

namespace slimbayes {

namespace {

constexpr const char* kGpExact = "gp-exact";

constexpr int64_t kManyRows = 300;  // above this one search suffices: one maximum of the evidence dominates

/// The start of a search: the lengthscale in units of sqrt(d), and the noise variance.
struct Start {
  double lengthscale, noise;
};

std::vector<Start> starts(int64_t rows) {
  std::vector<Start> all = {{1, 0.1}};
  if (rows <= kManyRows) {
    for (double lengthscale : {0.1, 0.3, 3.0}) {
      for (double noise : {0.01, 0.3}) all.push_back({lengthscale, noise});
    }
  }
  return all;
}

constexpr int64_t kTrial = 20;        // iterations of every search
constexpr size_t kFinalists = 2;      // searches that go on after them
constexpr int64_t kChunk = 5;         // iterations between two callbacks
constexpr int64_t kEvaluations = 25;  // most evaluations per iteration, for the line search

/// Maximises the evidence from several starts and keeps the best theta. The kernel matrices are on the device
/// of the rows; theta, which is small, stays on the CPU.
class EvidenceSearch {
 public:
  EvidenceSearch(const RowTensors& rows, const GpExactOptions& options, Callback* callback, Summary& summary)
      : rows_(rows), options_(options), callback_(callback), summary_(summary) {}

  at::Tensor run() {
    summary_.score = "-log evidence a row";
    summary_.best_score = std::numeric_limits<double>::infinity();
    std::vector<Search> searches;
    for (const Start& start : starts(rows_.x.size(0))) searches.emplace_back(rows_.x.size(1), start);
    const size_t finalists = std::min(kFinalists, searches.size());
    const int64_t trial = searches.size() > finalists ? std::min(kTrial, options_.iterations) : 0;
    budget_ = trial * std::ssize(searches) + static_cast<int64_t>(finalists) * (options_.iterations - trial);
    bool going = true;
    for (size_t i = 0; trial > 0 && going && i < searches.size(); ++i) going = advance(searches[i], trial);
    std::ranges::stable_sort(searches, {}, &Search::lowest);
    for (size_t i = 0; going && i < finalists; ++i) going = advance(searches[i], options_.iterations);
    if (!best_.defined()) std::rethrow_exception(failure_);
    if (going) summary_.stopped = std::ranges::min_element(searches, {}, &Search::lowest)->stopped;
    summary_.best_epoch = summary_.epochs = summary_.steps;
    summary_.seconds = seconds();
    return best_;
  }

 private:
  /// One search: L-BFGS on theta from one start.
  struct Search {
    at::Tensor theta;
    std::unique_ptr<torch::optim::LBFGS> optimiser;
    int64_t done = 0;                                         // iterations
    double lowest = std::numeric_limits<double>::infinity();  // -log evidence / n
    Stopped stopped = Stopped::budget;
    bool ended = false;

    Search(int64_t inputs, const Start& start) : theta(dense_start(inputs, std::log(start.noise))) {
      theta.narrow(0, 0, inputs).add_(std::log(start.lengthscale));
      theta.set_requires_grad(true);
      optimiser = std::make_unique<torch::optim::LBFGS>(
          std::vector<at::Tensor>{theta}, torch::optim::LBFGSOptions(1).line_search_fn("strong_wolfe"));
    }
  };

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  /// Thrown through the optimiser when the caller or the time ends the search.
  struct Ended {
    Stopped why;
  };

  /// Throws Ended before an evaluation, once there is one to keep.
  void check_time() const {
    if (!callback_ || !best_.defined()) return;
    if (callback_->stop()) throw Ended{Stopped::interrupted};
    if (callback_->late()) throw Ended{Stopped::time};
  }

  double evaluate(Search& search) {
    check_time();
    search.theta.mutable_grad() = at::zeros_like(search.theta);
    const double value =
        dense_evidence_backward(search.theta, rows_.x, rows_.y, options_.noise_floor, rows_.weight);
    search.lowest = std::min(search.lowest, value);
    if (value < summary_.best_score) {
      summary_.best_score = value;
      best_ = search.theta.detach().clone();
    }
    return value;
  }

  /// Takes a search to `iterations` iterations. A numerical failure ends this search; it ends the fit only if
  /// every search fails. Returns whether others may go on.
  bool advance(Search& search, int64_t iterations) {
    auto& settings = static_cast<torch::optim::LBFGSOptions&>(search.optimiser->param_groups()[0].options());
    auto closure = [&] { return at::full({}, evaluate(search), at::kDouble); };
    at::AutoGradMode with_grad(true);
    try {
      if (search.done == 0) closure();
      while (!search.ended && search.done < iterations) {
        const double before = search.lowest;
        settings.max_iter(std::min(kChunk, iterations - search.done));
        settings.max_eval(kEvaluations * settings.max_iter());
        search.optimiser->step(closure);
        search.done += settings.max_iter();
        summary_.steps += settings.max_iter();
        report();
        if (before - search.lowest < 1e-7) {
          search.stopped = Stopped::converged;
          search.ended = true;
        }
      }
    } catch (const Ended& ended) {
      summary_.stopped = ended.why;
      return false;
    } catch (const NumericalError& error) {
      failure_ = std::current_exception();
      summary_.notes.push_back(fmt::format("a search for hyperparameters ended early: {}", error.what()));
      search.stopped = Stopped::failure;
      search.ended = true;
    }
    return true;
  }

  void report() const {
    if (!callback_) return;
    const double rate = static_cast<double>(summary_.steps) / std::max(seconds(), 1e-9);
    callback_->report({summary_.steps, budget_, summary_.steps, budget_, summary_.best_score,
                       summary_.best_score, summary_.best_score, rate, seconds(), 0,
                       Remaining{static_cast<double>(budget_ - summary_.steps) / rate}});
  }

  const RowTensors& rows_;
  const GpExactOptions& options_;
  Callback* callback_;
  Summary& summary_;
  at::Tensor best_;
  std::exception_ptr failure_;  // exception of the last search that failed
  int64_t budget_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

constexpr double kNoiseOfEqualRows = 0.01;  // of the targets' sd

/// Returns a note if the noise of theta, learned from these rows, has an sd below 1 % of the targets' and the
/// rows count more than once or some are equal, inputs and target alike; else "". Weights of importance have
/// a mean of 1, so if they differ some are below 1; no row then counts as several.
std::string equal_rows_note(const RowTensors& rows, const at::Tensor& theta, double noise_floor) {
  const double noise = std::sqrt(DenseHyper(theta, noise_floor).noise_var.item<double>()),
               spread = std::sqrt(weighted_var(rows.y, rows.weight));
  if (!(noise < kNoiseOfEqualRows * spread)) return "";
  const int64_t n = rows.x.size(0);
  const at::Tensor& w = rows.weight;
  const bool counted = w.defined() && w.min().item<double>() >= 1;
  const int64_t heavy = counted ? (w > 1).sum().item<int64_t>() : 0;
  const at::Tensor all = at::cat({rows.x, rows.y.unsqueeze(1)}, 1);
  const int64_t copies = heavy > 0 ? 0 : n - std::get<0>(at::unique_dim(all, 0)).size(0);
  if (heavy == 0 && copies == 0) return "";
  const std::string which =
      heavy > 0 ? fmt::format("{} of {} rows count{} more than once", heavy, n, heavy == 1 ? "s" : "")
                : fmt::format("{} of {} rows equal{} another one", copies, n, copies == 1 ? "s" : "");
  return fmt::format(
      "the learned noise has {:.2g} % of the target's sd, because {}, which the evidence takes for targets "
      "without noise: unless they have none, {} or take another method",
      100 * noise / spread, which,
      heavy > 0 ? "give the weights as `.weights_are=importance`" : "leave the copies out");
}

class GpExactFitted : public Fitted {
 public:
  GpExactFitted(const GpExactOptions& options, RowTensors rows, at::Tensor theta, Summary summary)
      : options_(options),
        rows_(std::move(rows)),
        theta_(std::move(theta)),
        summary_(std::move(summary)),
        posterior_(theta_, rows_.x, rows_.y, options.noise_floor, rows_.weight) {
    summary_.jitter = posterior_.jitter();
  }

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    at::NoGradGuard no_grad;
    RowTensors rows{stored_tensor(file, "data.x"), stored_tensor(file, "data.y")};
    at::Tensor theta = stored_tensor(file, "theta");
    check_shape(rows.x, {-1, -1}, kGpExact, "x");
    check_shape(rows.y, {rows.x.size(0)}, kGpExact, "data.y");
    if (file.tensors.contains(kDenseWeights))
      rows.weight = checked_weights(stored_tensor(file, kDenseWeights), rows.x.size(0), kGpExact);
    check_shape(theta, {rows.x.size(1) + 3}, kGpExact, "theta");
    for (const at::Tensor& each : {rows.x, rows.y, theta}) check_finite(each, kGpExact, "model");
    const bool floats = at::isFloatingType(rows.x.scalar_type()) && at::isFloatingType(rows.y.scalar_type());
    check(floats && at::isFloatingType(theta.scalar_type()), kGpExact, "floating point tensors", "others");
    return std::make_unique<GpExactFitted>(
        options_from_json<GpExactOptions>(stored_json(file, "options"), kGpExact), std::move(rows),
        std::move(theta), summary_from_json(stored_json(file, "summary")));
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    if (const auto rows = row_model())
      return predict_by_rows(*rows, data, {{rows_.x.size(1)}}, at::kDouble, options.on_host(), kGpExact);
    const PredictOptions small =
        options.on_host().with_batch_at_most(1024);  // a batch needs two [b, n] matrices
    return predict_rows(data, {{rows_.x.size(1)}}, at::kDouble, small, kGpExact,
                        [this](const Input& x) { return posterior_(x.x); });
  }

  TensorFile save() const override {
    TensorFile file;
    file.metadata["options"] = options_to_json(options_).dump();
    file.metadata["summary"] = to_json(summary_).dump();
    file.tensors["data.x"] = to_stored(rows_.x);
    file.tensors["data.y"] = to_stored(rows_.y);
    if (rows_.weight.defined()) file.tensors[kDenseWeights] = to_stored(rows_.weight);
    file.tensors["theta"] = to_stored(theta_);
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::optional<engine::RowSpec> row_spec() const override {
    return engine::RowSpec{posterior_.kernel_rows({.inputs = rows_.x.size(1)})};
  }

 private:
  GpExactOptions options_;
  RowTensors rows_;   // [n, d], [n]
  at::Tensor theta_;  // [d + 3]
  Summary summary_;
  DensePosterior posterior_;
};

class GpExactMethod : public Method {
 public:
  explicit GpExactMethod(const GpExactOptions& options) : options_(options) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    RowTensors rows = tensors_of(training_rows(split.train, kGpExact), at::kDouble);
    int64_t n = rows.x.size(0);
    if (!(n <= options_.max_rows))
      refuse(kGpExact, fmt::format("at most {} rows (max_rows)", options_.max_rows), std::to_string(n),
             "raise max_rows if time (n^3) and memory (n^2) permit, or use dbk");
    int64_t k = std::min(n, options_.evidence_rows);
    at::Tensor which = at::floor_divide(at::arange(k) * n, k);  // evenly spaced
    const RowTensors some = rows.subset(which).on(context.device);
    Summary summary;
    summary.rows = n;
    at::Tensor theta = EvidenceSearch(some, options_, context.callback, summary).run();
    if (k < n) {
      summary.notes.push_back(fmt::format("hyperparameters from {} of {} rows (evidence_rows)", k, n));
    }
    at::NoGradGuard no_grad;
    if (std::string note = equal_rows_note(some, theta, options_.noise_floor); !note.empty())
      summary.notes.push_back(std::move(note));
    return std::make_unique<GpExactFitted>(options_, std::move(rows), std::move(theta), std::move(summary));
  }

 private:
  GpExactOptions options_;
};

std::unique_ptr<Method> make_gp_exact(const nlohmann::json& options) {
  return std::make_unique<GpExactMethod>(options_from_json<GpExactOptions>(options, kGpExact));
}

std::unique_ptr<Fitted> load_gp_exact(const TensorFile& file) { return GpExactFitted::load(file); }

}  // namespace

RegistryRow gp_exact_row() { return {"gp-exact", make_gp_exact, load_gp_exact}; }

}  // namespace slimbayes
