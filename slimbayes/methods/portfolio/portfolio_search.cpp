// The search of `auto` for the candidates that predict held-out rows best.
//
// Problem     No method is best on every table; the held-out rows know which one is.
// Method      1. Each candidate is fitted without the rows of each fold and predicts them. For each
//             candidate, the factor of its variance (in folds one for each row) and the tails are those of
//             the lowest NLL of these answers.
//             2. The weights maximise the log score of the held-out rows: those of a mixture (stacking), of
//             classes those of a logarithmic pool (methods/portfolio/log_pool.h). Candidates with a weight
//             below 2 % are dropped. One more factor corrects the spread of a mixture. It is raised where
//             more of the held-out rows lie outside their 95 % intervals than chance explains.
//             3. A candidate answers with all its fits, one a fold, so that every row has trained some of
//             them. One that learns all rows without validation rows is fitted once more to all rows instead.
// Validation  With validation rows there is one fold. They have ended the training too, so that their scores
//             are slightly too good; a table that is too large for folds has hundreds of them by default.
//             With validation rows, those that the mixture would use get further fits with other seeds, as
//             the time allows; their equally weighted mixture answers.
// Time        The limit is one of the user's call (methods/portfolio/search_budget.h). The first candidate is
//             fitted in any case; by-size it is `constant`, which costs nothing. Others are not begun if the
//             time is over or if their cost, which follows from the numbers of rows and columns, is too large
//             for it, and not continued if their first fits say that they will not end in time. The first
//             network gets what time there is, and ends early if it must. Every candidate has its turn before
//             any gets copies.
#include "slimbayes/methods/portfolio/portfolio_search.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/refused_memory.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/portfolio/portfolio_choice.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"
#include "slimbayes/methods/portfolio/search_budget.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint_reader.h"
#include "slimbayes/train/fit_series.h"
#include "slimbayes/train/until_deadline.h"

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;

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
        budget_(options, rows, context) {}

  SearchResult run() {
    resume();
    const size_t turns = (rows_.in_folds ? 1 : 2) * tried_.size();
    while (next_ < turns && !interrupted_) {
      const bool first = next_ < tried_.size();
      if (first) try_log_target_first(tried_, next_);
      TriedCandidate& one = tried_[current()];
      if (first && one.left_out.empty()) leave_out_if_vain(one);
      if (next_ == tried_.size()) copied_ = candidates_to_copy(tried_, held_, rows_, targets_, options_);
      const size_t before = one.members.size();
      if (one.left_out.empty()) first ? fit_needed(one) : fit_copies(one);
      if (interrupted_) break;
      ++next_;
      if (first || one.members.size() > before) record(next_, 0);
    }
    return combined();
  }

 private:
  size_t current() const { return next_ % tried_.size(); }

  /// Makes the list of candidates, or takes it from the checkpoint.
  void resume() {
    const std::vector<Candidate> all = candidates_for(options_, passed_on_, rows_.all);
    most_fits_ = std::max<size_t>(rows_.folds.size() + 1, 100);
    for (const Candidate& candidate : all) tried_.emplace_back().candidate = candidate;
    held_.resize(tried_.size());
    const auto record = series_.start(static_cast<int64_t>(2 * tried_.size() * most_fits_));
    if (!record) return;
    read_contents(series_.name(), kCheckpointHint, [&] {
      const auto done = static_cast<size_t>(std::stoull(record->metadata.at("done")));
      if (!record->metadata.contains("portfolio")) {
        check(done == 0, "auto", "the finished fits", "none");
        return;
      }
      std::vector<TriedCandidate> found = stored_portfolio(*record, &rows_.all);
      if (!(found.size() == tried_.size() && done < 2 * found.size() * most_fits_ + 1))
        refuse("auto", fmt::format("{} candidates", tried_.size()), std::to_string(found.size()));
      tried_ = std::move(found);
      next_ = done / most_fits_;
      for (size_t i = 0; i < tried_.size(); ++i) {
        budget_.add_earlier(tried_[i].seconds);
        const size_t least =
            i < next_ && tried_[i].left_out.empty() ? needed_fits(tried_[i].candidate, rows_) : 0;
        check(tried_[i].members.size() >= least &&
                  tried_[i].members.size() <= all_fits(tried_[i].candidate, rows_),
              "auto", "the fits of every candidate", "others");
        if (i < next_ && tried_[i].left_out.empty()) score(i);
      }
      if (next_ > tried_.size()) copied_ = candidates_to_copy(tried_, held_, rows_, targets_, options_);
    });
  }

  void record(size_t candidate, size_t fits) {
    if (context_.checkpoint.path.empty()) return;
    TensorFile file;
    store_portfolio(tried_, /*seconds=*/true, file);
    series_.keep(std::move(file), static_cast<int64_t>(candidate * most_fits_ + fits));
  }

  /// Makes the fits that the candidate needs and scores it. Sets `left_out` if that fails or takes too long.
  void fit_needed(TriedCandidate& one) {
    try {
      if (const std::string why = too_large(one); !why.empty()) return leave_for_time(one, why);
      one.view = fitted_view(rows_.all, min_max(one), one.candidate.warp);
      const auto method = registry_row(one.candidate.method).make(one.candidate.options);
      while (one.members.size() < needed_fits(one.candidate, rows_) && !interrupted_ && one.left_out.empty())
        fit_next(one, *method);
      // A candidate whose last fit the caller stopped after its end counts, too.
      const bool whole = one.members.size() >= needed_fits(one.candidate, rows_);
      if (whole && one.left_out.empty()) score(current());
    } catch (const NumericalError& error) {
      failed(one, error.what());
    } catch (const std::invalid_argument& error) {
      failed(one, error.what());
    } catch (const std::bad_alloc&) {
      failed(one, "out of memory");
    } catch (const c10::Error& error) {
      if (!refused_memory(error)) throw;
      failed(one, "out of memory");
    }
  }

  /// Leaves the candidate out. A fit that the caller stops before it has parameters throws as well.
  void failed(TriedCandidate& one, const char* message) {
    if (stopped_by_caller()) {
      interrupted_ = true;
      return;
    }
    one.left_out = fmt::format("failed: {}", without_functions(message));
    one.members.clear();
    failure_ = std::current_exception();
  }

  bool min_max(const TriedCandidate& one) const {
    return find_method(one.candidate.method).input_scale == "min-max";
  }

  /// Returns whether there is an answer already, so that the candidate may be left out.
  bool has_answer() const { return std::ranges::any_of(tried_, has_score); }

  /// Returns why the candidate is too large for the time that is left; "" if it is not, or if there is no
  /// answer yet. Where the user has set no limit, the first network gets its turn in any case: it ends when
  /// it is told to.
  std::string too_large(const TriedCandidate& one) {
    const bool first_network = !has_more_than_plain(tried_) && find_method(one.candidate.method).resumable;
    if (!has_answer() || (first_network && !budget_.is_asked())) return "";
    const double needed =
        budget_.least_seconds(one.candidate, needed_fits(one.candidate, rows_) - one.members.size());
    const double left = budget_.left();
    return needed > left ? would_take(needed, left) : "";
  }

  static std::string would_take(double seconds, double left) {
    const auto text = [](double s) { return fmt::format("{:.{}f}", s, s < 10 ? 1 : 0); };
    return fmt::format("would take {} s, {} are left", text(seconds), text(std::max(0.0, left)));
  }

  /// Leaves the candidate out if no time is left or its fit would be in vain.
  void leave_out_if_vain(TriedCandidate& one) {
    if (budget_.left() < 0 && has_answer()) return leave_for_time(one, "no time left");
    one.left_out = why_not_begun(one, tried_);
  }

  static void leave_for_time(TriedCandidate& one, const std::string& why) {
    one.left_out = why;
    one.for_time = true;
  }

  /// Makes a fit that the candidate needs.
  void fit_next(TriedCandidate& one, const Method& method) {
    const size_t k = one.members.size();
    const auto left = static_cast<double>(needed_fits(one.candidate, rows_) - k);
    const bool needed = !has_more_than_plain(tried_);  // without it the answer would be a straight line
    const double rest = budget_.left() - budget_.seconds_to_finish(one.candidate);
    if (const double more = one.seconds / std::max(1.0, static_cast<double>(k)) * left;
        has_answer() && !needed && k > 0 && more > rest)
      return leave_for_time(one, would_take(more, rest));
    auto member = fitted(one, method, needed ? rest / left : rest);
    if (interrupted_) return;
    const bool cut = member->summary().stopped == Stopped::time;
    if (cut && !needed && has_answer())
      return leave_for_time(one, fmt::format("not ended after {:.2g} s", one.seconds));
    one.cut = one.cut || cut;
    keep(one, std::move(member));
  }

  /// Makes copies of a candidate that the mixture would use, as long as there is time for another. A copy
  /// that does not end is left out. If one fails, or the answer with the copies has no score, the candidate
  /// answers with its first fit, and a note says so.
  void fit_copies(TriedCandidate& one) {
    if (!copied_.at(current()) || one.cut) return;
    const auto first = std::pair(one, held_[current()]);
    std::string failure;
    try {
      const auto method = registry_row(one.candidate.method).make(one.candidate.options);
      while (one.members.size() < all_fits(one.candidate, rows_) && !interrupted_) {
        const double rest = budget_.left() - budget_.seconds_to_finish(one.candidate);
        if (one.seconds / static_cast<double>(one.members.size()) > rest) {
          fewer_copies_ = true;
          break;
        }
        auto member = fitted(one, *method, rest);
        if (interrupted_) break;
        if (member->summary().stopped == Stopped::time) {
          fewer_copies_ = true;
          break;
        }
        keep(one, std::move(member));
      }
      if (one.members.size() > 1) score(current());
      failure = one.left_out;
    } catch (const NumericalError& error) {
      failure = error.what();
    } catch (const std::invalid_argument& error) {
      failure = error.what();
    } catch (const std::bad_alloc&) {
      failure = "out of memory";
    } catch (const c10::Error& error) {
      if (!refused_memory(error)) throw;
      failure = "out of memory";
    }
    if (failure.empty()) return;
    const double spent = one.seconds;
    std::tie(one, held_[current()]) = first;
    one.members.resize(1);
    one.seconds = spent;
    if (context_.callback)
      context_.callback->note(fmt::format("{} answers without copies: {}", one.candidate.label(), failure));
  }

  /// Makes the next fit of the candidate; at the end of this time it is told to end. Sets interrupted_ if the
  /// caller stopped it.
  std::shared_ptr<const Fitted> fitted(TriedCandidate& one, const Method& method, double seconds) {
    const size_t k = one.members.size();
    if (context_.callback)
      context_.callback->stage(
          fmt::format("{} {}/{}", one.candidate.label(), k + 1, all_fits(one.candidate, rows_)));
    const auto begin = Clock::now();
    const std::clock_t cpu = std::clock();
    UntilDeadline callback(context_.callback, seconds);
    const Stream stream = context_.stream.split(one.candidate.method).split(static_cast<uint64_t>(k));
    FitContext own = part_of(context_, stream, series_.part(static_cast<int64_t>(next_ * most_fits_ + k)));
    own.callback = &callback;
    own.start = nullptr;
    std::shared_ptr<const Fitted> member = method.fit(rows_of_fit(one, rows_, k), own);
    const double spent = seconds_since(begin);
    one.seconds += spent;
    cpu_ += static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    timed_ += spent;
    interrupted_ = member->summary().stopped == Stopped::interrupted;
    return member;
  }

  void keep(TriedCandidate& one, std::shared_ptr<const Fitted> member) {
    one.members.push_back(std::move(member));
    record(next_, one.members.size());
    interrupted_ = stopped_by_caller();
  }

  bool stopped_by_caller() const { return context_.callback != nullptr && context_.callback->stop(); }

  /// Scores candidate i, all of whose fits so far are made.
  void score(size_t i) {
    at::NoGradGuard no_grad;
    const auto begin = Clock::now();
    const std::vector<HeldOutAnswers> parts = held_out_answers(tried_[i], rows_);
    budget_.set_aside(seconds_since(begin));
    held_[i] = scored(tried_[i], rows_, parts, targets_, options_.tails == "auto");
  }

  /// Weighs the candidates, and keeps of each the members that answer.
  SearchResult combined() {
    at::NoGradGuard no_grad;
    SearchResult found;
    found.interrupted = interrupted_;
    for (TriedCandidate& one : tried_)
      if (interrupted_ && one.left_out.empty() && !std::isfinite(one.nll)) one.left_out = "interrupted";
    found.late = fewer_copies_ || std::ranges::any_of(tried_, &TriedCandidate::for_time);
    if (timed_ > 0) found.core_share = cpu_ / timed_;
    found.held = targets_.size(0);
    const auto any = std::ranges::any_of(tried_, [&](const TriedCandidate& t) { return has_score(t); });
    if (!any && failure_) std::rethrow_exception(failure_);
    if (!any)
      throw NumericalError(
          "[auto] expected a fitted candidate; received none: stopped before the first one ended");
    const Weighting weighed = weigh(tried_, held_, targets_, options_.combine == "best");
    found.nll = weighed.nll;
    found.power = weighed.power;
    found.wild = wild_rows(*std::ranges::max_element(tried_, {}, &TriedCandidate::weight), rows_, targets_);
    for (TriedCandidate& one : tried_) {
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
  SearchBudget budget_;
  double cpu_ = 0, timed_ = 0;  // of the fits in this process: CPU time, and seconds
  std::vector<TriedCandidate> tried_;
  std::vector<std::optional<Predictive>> held_;  // tempered answers to the held-out rows, by candidate
  /// The turn: each candidate has two, one for the fits that it needs and then one for copies.
  size_t next_ = 0, most_fits_ = 0;
  std::vector<bool> copied_;                         // by candidate, whether it gets copies
  bool interrupted_ = false, fewer_copies_ = false;  // the latter: than with more time
  std::exception_ptr failure_;
};

}  // namespace

SearchResult search(const AutoOptions& options, const nlohmann::json& passed_on, const SearchRows& rows,
                    const FitContext& context) {
  return Search(options, passed_on, rows, context).run();
}

}  // namespace slimbayes
