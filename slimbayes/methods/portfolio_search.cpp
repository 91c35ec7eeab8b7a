// The search of `auto` for the candidates that predict held-out rows best.
//
// Problem     No method is best on every table; the held-out rows know which one is.
// Method      1. Each candidate is fitted without the rows of each fold and predicts them. For each
//             candidate, the factor of its variance and the degrees of freedom are those of the lowest NLL of
//             these answers.
//             2. The weights of the mixture maximise the log score of the held-out rows (stacking).
//             Candidates with a weight below 2 % are dropped, and one more factor corrects the spread of the
//             mixture. It is raised where more of the held-out rows lie outside their 95 % intervals than
//             chance explains.
//             3. A candidate answers with all its fits, one a fold, so that every row has trained some of
//             them. One that learns all rows without validation rows is fitted once more to all rows instead.
// Validation  With validation rows there is one fold. They have ended the training too, so that their scores
//             are slightly too good; a table that is too large for folds has hundreds of them by default.
// Time        A candidate is not begun after the time limit, and not continued if its first fits say that it
//             will not end in time. The first network gets what time there is, and ends early if it must.
#include "slimbayes/methods/portfolio_search.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/density.h"
#include "slimbayes/core/metrics.h"
#include "slimbayes/core/mixture.h"
#include "slimbayes/core/stacking.h"
#include "slimbayes/methods/portfolio_weights.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/train/checkpoint_reader.h"
#include "slimbayes/train/fit_series.h"
#include "slimbayes/train/until_deadline.h"

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNear = 0.05;  // nats a row by which a straight line may fit log y worse than y

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Search {
 public:
  Search(const AutoOptions& options, const nlohmann::json& passed_on, const SearchRows& rows,
         const FitContext& context)
      : options_(options),
        passed_on_(passed_on),
        rows_(rows),
        context_(context),
        series_(context.checkpoint, "auto", context.callback),
        targets_(held_targets(rows)),
        limit_(seconds_for(options, rows.all.size())) {}

  Found run() {
    resume();
    while (next_ < tried_.size() && !interrupted_) {
      Tried& one = tried_[next_];
      if (one.left_out.empty()) one.left_out = why_not(one);
      if (one.left_out.empty()) fit_all(one);
      if (interrupted_) break;
      record(++next_, 0);
    }
    return combined();
  }

 private:
  /// Makes the list of candidates, or takes it from the checkpoint.
  void resume() {
    const std::vector<Candidate> all = candidates_for(options_, passed_on_, rows_.all);
    most_fits_ = std::max<size_t>(rows_.folds.size() + 1, 100);
    for (const Candidate& candidate : all) tried_.emplace_back().candidate = candidate;
    held_.resize(tried_.size());
    const auto record = series_.start(static_cast<int64_t>(tried_.size() * most_fits_));
    if (!record) return;
    read_contents(series_.name(), kCheckpointHint, [&] {
      const auto done = static_cast<size_t>(std::stoull(record->metadata.at("done")));
      if (!record->metadata.contains("portfolio")) {
        check(done == 0, "auto", "the finished fits", "none");
        return;
      }
      std::vector<Tried> found = stored_portfolio(*record, &rows_.all);
      check(found.size() == tried_.size() && done < found.size() * most_fits_ + 1, "auto",
            fmt::format("{} candidates", tried_.size()), std::to_string(found.size()));
      tried_ = std::move(found);
      next_ = done / most_fits_;
      for (size_t i = 0; i < tried_.size(); ++i) {
        used_ += tried_[i].seconds;
        const size_t least =
            i < next_ && tried_[i].left_out.empty() ? all_fits(tried_[i].candidate, rows_) : 0;
        check(tried_[i].members.size() >= least &&
                  tried_[i].members.size() <= all_fits(tried_[i].candidate, rows_),
              "auto", "the fits of every candidate", "others");
        if (i < next_ && tried_[i].left_out.empty()) score(i);
      }
    });
  }

  void record(size_t candidate, size_t fits) {
    if (context_.checkpoint.path.empty()) return;
    TensorFile file;
    store_portfolio(tried_, /*seconds=*/true, file);
    series_.keep(std::move(file), static_cast<int64_t>(candidate * most_fits_ + fits));
  }

  bool settled(const Tried& one) const { return one.left_out.empty() && std::isfinite(one.nll); }

  /// Whether a candidate other than the plain methods has been fitted.
  bool has_more_than_plain() const {
    return std::ranges::any_of(
        tried_, [&](const Tried& t) { return settled(t) && !find_method(t.candidate.method).plain; });
  }

  /// Returns why the candidate is not worth its time; "" if it is.
  std::string why_not(const Tried& one) const {
    if (used_ > limit_ && has_more_than_plain()) return "no time left";
    if (find_method(one.candidate.method).plain) return "";
    // The straight lines decide whether the logarithm is tried at all, the first method that is more than a
    // line decides for the others.
    const auto [line, line_of_log] = both_views("ridge");
    if (one.candidate.warp == Warp::log && line_of_log > line + kNear)
      return "a straight line fits y better than log y";
    for (const Tried& t : tried_) {
      const std::string& first = t.candidate.method;
      if (find_method(first).plain || !settled(t)) continue;
      if (first == one.candidate.method) return "";
      const auto [as_is, log] = both_views(first);
      const bool worse = one.candidate.warp == Warp::log ? log > as_is : as_is > log;
      return worse ? fmt::format("{} fits {} better, which alone the others try", first,
                                 log > as_is ? "y" : "log y")
                   : "";
    }
    return "";
  }

  /// Returns the NLL of a method on the target as it is and on its logarithm; NaN where it has none.
  std::pair<double, double> both_views(const std::string& method) const {
    std::pair<double, double> nll{NAN, NAN};
    for (const Tried& t : tried_)
      if (t.candidate.method == method && settled(t))
        (t.candidate.warp == Warp::log ? nll.second : nll.first) = t.nll;
    return nll;
  }

  /// Fits the candidate and scores it. Sets `left_out` if that fails or takes too long.
  void fit_all(Tried& one) {
    try {
      one.view = fitted_view(rows_.all, min_max(one), one.candidate.warp);
      const auto method = registry_row(one.candidate.method).make(one.candidate.options);
      while (one.members.size() < all_fits(one.candidate, rows_) && !interrupted_ && one.left_out.empty())
        fit_next(one, *method);
      if (!interrupted_ && one.left_out.empty()) score(next_);
    } catch (const NumericalError& error) {
      failed(one, error.what());
    } catch (const std::invalid_argument& error) {
      failed(one, error.what());
    } catch (const std::bad_alloc&) {
      failed(one, "out of memory");
    }
  }

  void failed(Tried& one, const char* message) {
    one.left_out = fmt::format("failed: {}", message);
    one.members.clear();
    failure_ = std::current_exception();
  }

  bool min_max(const Tried& one) const { return find_method(one.candidate.method).input_scale == "min-max"; }

  /// Makes the next fit of the candidate.
  void fit_next(Tried& one, const Method& method) {
    const size_t k = one.members.size(), fits = all_fits(one.candidate, rows_);
    const auto left = static_cast<double>(fits - k);
    const bool needed = !has_more_than_plain();  // without it the answer would be a straight line
    const double rest = std::max(0.0, limit_ - used_);
    if (!needed && k > 0 && one.seconds / static_cast<double>(k) * left > rest) {
      one.left_out = fmt::format("would take {:.0f} s more, {:.0f} are left",
                                 one.seconds / static_cast<double>(k) * left, rest);
      return;
    }
    if (context_.callback)
      context_.callback->stage(fmt::format("{} {}/{}", one.candidate.label(), k + 1, fits));
    const auto begin = Clock::now();
    UntilDeadline callback(context_.callback, needed ? std::max(1.0, rest / left) : rest);
    const Stream stream = context_.stream.split(one.candidate.method).split(static_cast<uint64_t>(k));
    FitContext own = part_of(context_, stream, series_.part(static_cast<int64_t>(next_ * most_fits_ + k)));
    own.callback = &callback;
    own.start = nullptr;
    std::shared_ptr<const Fitted> member = method.fit(rows_of_fit(one, rows_, k), own);
    const double seconds = seconds_since(begin);
    one.seconds += seconds;
    used_ += seconds;
    const bool cut = member->summary().stopped == Stopped::interrupted;
    if (cut && callback.asked()) {
      interrupted_ = true;
      return;
    }
    if (cut && !needed) {
      one.left_out = fmt::format("not ended after {:.0f} s", one.seconds);
      return;
    }
    one.cut = one.cut || cut;
    one.members.push_back(std::move(member));
    record(next_, k + 1);
    interrupted_ = context_.callback != nullptr && context_.callback->stop();
  }

  /// Scores candidate i, all of whose fits are made.
  void score(size_t i) {
    at::NoGradGuard no_grad;
    Tried& one = tried_[i];
    one.of_folds = rows_.in_folds;
    one.tempering = {};
    Predictive held = held_answer(one, rows_);
    if (const auto* r = std::get_if<Regression>(&held)) {
      one.tempering = fitted_tempering(*r, targets_, options_.tails == "auto");
      held = held_answer(one, rows_);
    }
    const double nll = row_nll(held, targets_).mean().item<double>();
    if (!std::isfinite(nll)) {
      one.left_out = "its held-out NLL is not finite";
      return;
    }
    one.nll = nll;
    held_[i] = std::move(held);
  }

  /// Weighs the candidates, and keeps of each the members that answer.
  Found combined() {
    at::NoGradGuard no_grad;
    Found found;
    found.interrupted = interrupted_;
    found.held = targets_.size(0);
    const auto any = std::ranges::any_of(tried_, [&](const Tried& t) { return settled(t); });
    if (!any && failure_) std::rethrow_exception(failure_);
    if (!any)
      throw NumericalError(
          "[auto] expected a fitted candidate; received none: stopped before the first one ended");
    found.nll = weigh(tried_, held_, targets_, options_.combine == "best");
    for (Tried& one : tried_) {
      if (one.weight == 0) one.members.clear();
      if (one.members.size() > scoring_fits(one.candidate, rows_))
        one.members.erase(one.members.begin(), one.members.end() - 1);
    }
    found.tried = std::move(tried_);
    return found;
  }

  const AutoOptions& options_;
  const nlohmann::json& passed_on_;
  const SearchRows& rows_;
  const FitContext& context_;
  FitSeries series_;
  at::Tensor targets_;
  double limit_, used_ = 0;  // seconds
  std::vector<Tried> tried_;
  std::vector<std::optional<Predictive>> held_;  // tempered answers to the held-out rows, by candidate
  size_t next_ = 0, most_fits_ = 0;
  bool interrupted_ = false;
  std::exception_ptr failure_;
};

}  // namespace

Found search(const AutoOptions& options, const nlohmann::json& passed_on, const SearchRows& rows,
             const FitContext& context) {
  return Search(options, passed_on, rows, context).run();
}

}  // namespace slimbayes
