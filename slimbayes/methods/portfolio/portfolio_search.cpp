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
//             them. One that learns all rows without validation rows is fitted once more to all rows instead,
//             once it is known to have a weight.
// Race        What adds too little on the first folds gets no more fits (methods/portfolio/candidate_race.h).
//             A network for targets without noise (PortfolioEntry::network) is begun only where another
//             candidate's held-out error is at most a tenth of the target's sd: elsewhere it costs more than
//             the others and adds nothing.
// Validation  With validation rows there is one fold. They have ended the training too, so that their scores
//             are slightly too good; a table too large for folds has hundreds of them by default. Candidates
//             that the mixture would use get further fits with other seeds, as the time allows and until one
//             adds too little; their equally weighted mixture answers.
// Time        The limit is one of the user's call (methods/portfolio/search_budget.h). The first candidate is
//             fitted in any case; by-size it is `constant`, which costs nothing. Others are not begun if the
//             time is over or their cost (by rows and columns) too large for it, and not continued if their
//             first fits say that they will not end in time. The first network gets what time there is, and
//             ends early if it must. Every candidate has its turn before any gets copies.
#include "slimbayes/methods/portfolio/portfolio_search.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/methods/portfolio/candidate_jobs.h"
#include "slimbayes/methods/portfolio/candidate_race.h"
#include "slimbayes/methods/portfolio/portfolio_choice.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"
#include "slimbayes/methods/portfolio/search_budget.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/failure.h"

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;

class Search {
 public:
  Search(const AutoOptions& options, const nlohmann::json& passed_on, const SearchRows& rows,
         const FitContext& context)
      : options_(options),
        rows_(rows),
        candidates_(candidates_for(options, passed_on, rows.all)),
        context_(within_memory(context, rows.all, choices_of(candidates_))),
        targets_(held_targets(rows)),
        budget_(options, rows, context),
        race_(rows, options),
        tried_(untried(candidates_)),
        held_(tried_.size()),
        jobs_(candidate_jobs(candidates_, rows_, context_)) {}

  SearchResult run() {
    jobs_.begin();
    bool stopped = false;
    for (size_t i = 0; i < tried_.size(); ++i) {
      try_log_target_first(tried_, i);
      // After a stop no fit begins. A candidate whose fits workers have finished still counts.
      if (stopped && !jobs_.has(job_of(tried_[i], 0))) continue;
      leave_out_if_vain(tried_[i]);
      if (tried_[i].left_out.empty()) fit_needed(i);
      if (!tried_[i].left_out.empty()) drop_other_fits(tried_[i]);
      stopped = std::exchange(interrupted_, false) || stopped;
    }
    interrupted_ = stopped;
    if (!interrupted_ && rows_.in_folds) fit_to_all_rows();
    if (!interrupted_ && !rows_.in_folds) {
      const std::vector<bool> copied = candidates_to_copy(tried_, held_, rows_, targets_, options_);
      for (size_t i = 0; i < tried_.size() && !interrupted_; ++i)
        if (tried_[i].left_out.empty() && copied[i] && !tried_[i].cut) fit_copies(i);
    }
    jobs_.ahead({});
    return combined();
  }

 private:
  /// Ends the fits of the candidate that workers have begun and nobody will take.
  void drop_other_fits(const TriedCandidate& one) {
    if (!interrupted_) jobs_.drop(job_of(one, one.members.size()), job_of(one, kMostFits));
  }

  /// Makes the fits that score the candidate, and scores it. Sets `left_out` if that fails or takes too long,
  /// and interrupted_ if the caller stopped one of them.
  void fit_needed(size_t i) {
    TriedCandidate& one = tried_[i];
    const size_t needed = needed_fits(one.candidate, rows_);
    if (!jobs_.has(job_of(one, 0)))
      if (const std::string why = too_large(one); !why.empty()) return leave_for_time(one, why);
    try {
      while (one.members.size() < needed && !interrupted_ && one.left_out.empty()) fit_next(i);
      if (one.members.size() < needed || !one.left_out.empty()) return;
      one.view = view_of(one.candidate, rows_.all);
      score(i);
    } catch (...) {
      failed(one, std::current_exception());
    }
  }

  /// Leaves the candidate out. A fit that the caller stops before it has parameters throws as well.
  void failed(TriedCandidate& one, const std::exception_ptr& thrown) {
    const auto message = failure_of(thrown);
    if (!message) std::rethrow_exception(thrown);
    if (is_stopped(context_)) {
      interrupted_ = true;
      return;
    }
    one.left_out = fmt::format("failed: {}", without_functions(*message));
    one.members.clear();
    failure_ = thrown;
  }

  /// Returns whether there is an answer already, so that the candidate may be left out.
  bool has_answer() const { return std::ranges::any_of(tried_, has_score); }

  /// Returns why the candidate is too large for the time that is left; "" if it is not, or if there is no
  /// answer yet. Where the user has set no limit, the first network gets its turn in any case: it ends when
  /// it is told to.
  std::string too_large(const TriedCandidate& one) {
    const bool first_network = !has_more_than_plain(tried_) && find_method(one.candidate.method).resumable;
    if (!has_answer() || (first_network && !budget_.is_asked())) return "";
    const double needed = budget_.least_seconds(one.candidate, budget_.shares(one, jobs_.workers()));
    return needed > budget_.left() ? would_take(needed, budget_.left()) : "";
  }

  /// Leaves the candidate out if no time is left or its fit would be in vain.
  void leave_out_if_vain(TriedCandidate& one) {
    if (budget_.left() < 0 && has_answer() && !jobs_.has(job_of(one, 0)))
      return leave_for_time(one, "no time left");
    one.left_out = why_not_begun(one, tried_);
  }

  /// Makes a fit that candidate i needs.
  void fit_next(size_t i) {
    TriedCandidate& one = tried_[i];
    const size_t k = one.members.size();
    const auto left = static_cast<double>(budget_.shares(one, jobs_.workers()));
    const bool needed = !has_more_than_plain(tried_);  // without it the answer would be a straight line
    const double rest = budget_.left_for(one.candidate);
    if (const double more = one.seconds / std::max(1.0, static_cast<double>(k)) * left;
        has_answer() && !needed && k > 0 && more > rest && !jobs_.has(job_of(one, k)))
      return leave_for_time(one, would_take(more, rest));
    const std::optional<double> share = needed ? std::optional(rest / left) : std::nullopt;
    const JobDeadline until = in_seconds(share.value_or(rest));
    if (jobs_.workers() > 1) jobs_.ahead(probably_next(i, until, share));
    const auto member = fitted(one, until);
    if (!member || interrupted_) return;
    const bool cut = (*member)->summary().stopped == Stopped::time;
    if (cut && !needed && has_answer())
      return leave_for_time(one, fmt::format("not ended after {:.2g} s", one.seconds));
    one.cut = one.cut || cut;
    const bool decides = race_.next_fold_decides(one, tried_);
    one.members.push_back(*member);
    interrupted_ = is_stopped(context_) && !jobs_.has(job_of(one, k + 1));
    if (!decides || interrupted_) return;
    one.view = view_of(one.candidate, rows_.all);
    one.left_out = race_.why_it_leaves(tried_, i);
  }

  /// Returns the fits that will probably be taken next, the surest first: what candidate i still needs, then
  /// those of the candidates after it that nothing known rules out, then that of the best one to all rows. Of
  /// one that races the first fit decides before others begin. The fits of i must end at `until` or, if each
  /// has a share, after so many seconds.
  std::vector<std::pair<size_t, JobDeadline>> probably_next(size_t i, JobDeadline until,
                                                            std::optional<double> share) {
    std::vector<std::pair<size_t, JobDeadline>> order, later;
    for (size_t c = i; c < tried_.size(); ++c) {
      const TriedCandidate& one = tried_[c];
      if (c > i && (!one.left_out.empty() || !why_not_begun(one, tried_).empty() || !too_large(one).empty()))
        continue;
      // The time that a network may take depends on what the candidates before it leave.
      if (c > i && !has_more_than_plain(tried_) && !find_method(one.candidate.method).plain) break;
      const double rest = budget_.left_for(one.candidate);
      const size_t first = one.members.size();
      const size_t end =
          race_.next_fold_decides(one, tried_) && first == 0 ? 1 : needed_fits(one.candidate, rows_);
      for (size_t k = first; k < end; ++k) {
        // Those that wait for a worker have the time after those before them.
        const size_t turn = 1 + (k - first) / static_cast<size_t>(jobs_.workers());
        const double seconds = share ? *share * static_cast<double>(turn) : 0;
        const JobDeadline own = c > i ? in_seconds(rest) : share ? in_seconds(seconds) : until;
        (race_.next_fold_decides(one, tried_) && k > first ? later : order).emplace_back(job_of(one, k), own);
      }
    }
    if (const auto best = std::ranges::find_if(tried_, [&](const TriedCandidate& t) { return is_best(t); });
        best != tried_.end() && rows_.in_folds && best->candidate.learns_all())
      order.emplace_back(job_of(*best, best->members.size()), in_seconds(budget_.left_for(best->candidate)));
    order.insert(order.end(), later.begin(), later.end());
    return order;
  }

  /// Fits the candidates that learn all rows, and that the mixture uses, to all of them. One for which there
  /// is no time answers with the fits of its folds.
  void fit_to_all_rows() {
    std::vector<size_t> chosen;
    std::vector<std::pair<size_t, JobDeadline>> order;
    const std::vector<TriedCandidate> together = weighed();
    for (size_t i = 0; i < tried_.size(); ++i) {
      const TriedCandidate& one = tried_[i];
      budget_.set_aside_fit(i, 0);
      if (!has_score(one) || one.members.size() == all_fits(one.candidate, rows_)) continue;
      if (together[i].weight == 0 && options_.fits == "needed") continue;
      chosen.push_back(i);
      order.emplace_back(job_of(one, one.members.size()), in_seconds(budget_.left_for(one.candidate)));
    }
    if (jobs_.workers() > 1) jobs_.ahead(order);
    for (const size_t i : chosen) {
      const TriedCandidate& one = tried_[i];
      if (interrupted_) return;
      if (budget_.seconds_to_all_rows(one) > budget_.left_for(one.candidate) &&
          !jobs_.has(job_of(one, one.members.size())))
        fewer_fits_ = true;
      else
        has_one_more(i, in_seconds(budget_.left_for(one.candidate)));
    }
  }

  /// Returns whether the candidate has the best score so far, so that it will probably have a weight.
  bool is_best(const TriedCandidate& one) const {
    return has_score(one) &&
           std::ranges::none_of(tried_, [&](const auto& t) { return has_score(t) && t.nll < one.nll; });
  }

  /// Makes copies of a candidate that the mixture would use, as long as there is time for another and the
  /// last one lowered the NLL of the mixture by kLeastGain.
  void fit_copies(size_t i) {
    TriedCandidate& one = tried_[i];
    at::Tensor before;
    while (one.members.size() < all_fits(one.candidate, rows_) && !interrupted_) {
      const size_t k = one.members.size();
      const double rest = budget_.left_for(one.candidate);
      if (one.seconds / static_cast<double>(k) > rest && !jobs_.has(job_of(one, k))) {
        fewer_fits_ = true;
        return;
      }
      const JobDeadline until = in_seconds(rest);
      jobs_.ahead(job_of(one, k), job_of(one, all_fits(one.candidate, rows_)), until);
      if (race_.is_on() && !before.defined()) before = row_nll_of_all();
      if (!has_one_more(i, until)) return drop_other_fits(one);
      if (!race_.is_on()) continue;
      const at::Tensor now = row_nll_of_all();
      if (gain_of(before, now, held_weights(rows_)).mean < kLeastGain) return drop_other_fits(one);
      before = now;
    }
  }

  /// Adds a fit to candidate i, which has a score, and returns whether that worked. One that does not end is
  /// left out. If it fails, or the answer with it has no score, the candidate answers without it, and a note
  /// says so.
  bool has_one_more(size_t i, JobDeadline until) {
    TriedCandidate& one = tried_[i];
    const auto last = std::pair(one, held_[i]);
    if (is_added(i, until)) return true;
    if (!one.left_out.empty() && context_.callback)
      context_.callback->note(fmt::format("{} answers with {} of {} fits: {}", one.candidate.label(),
                                          last.first.members.size(), all_fits(one.candidate, rows_),
                                          one.left_out));
    const double spent = one.seconds;
    std::tie(one, held_[i]) = last;
    one.seconds = spent;
    return false;
  }

  bool is_added(size_t i, JobDeadline until) {
    TriedCandidate& one = tried_[i];
    const auto member = fitted(one, until);
    if (!member || interrupted_) return false;
    if ((*member)->summary().stopped == Stopped::time) {
      fewer_fits_ = true;
      return false;
    }
    one.members.push_back(*member);
    interrupted_ = is_stopped(context_);
    if (rows_.in_folds) return true;  // the score is that of the folds
    try {
      score(i);
      return one.left_out.empty();
    } catch (...) {
      failed(one, std::current_exception());
      return false;
    }
  }

  /// Returns the NLL of each held-out row, [n], by all candidates together as they are now.
  at::Tensor row_nll_of_all() const {
    at::NoGradGuard no_grad;
    std::vector<TriedCandidate> together = tried_;
    return weigh(together, held_, targets_, options_.combine == "best", held_weights(rows_)).row_nll;
  }

  /// Returns the candidates with the weights that they have as they are now.
  std::vector<TriedCandidate> weighed() const {
    at::NoGradGuard no_grad;
    std::vector<TriedCandidate> together = tried_;
    if (has_answer()) weigh(together, held_, targets_, options_.combine == "best", held_weights(rows_));
    return together;
  }

  /// Takes the next fit of the candidate; at this time it is told to end. Returns nothing if it failed, which
  /// leaves the candidate out. Sets interrupted_ if the caller stopped it.
  std::optional<std::shared_ptr<const Fitted>> fitted(TriedCandidate& one, JobDeadline until) {
    const auto outcome = jobs_.take(job_of(one, one.members.size()), until);
    one.seconds += outcome.seconds;
    if (outcome.cpu_seconds > 0) {
      cpu_ += outcome.cpu_seconds;
      timed_ += outcome.seconds;
    } else {
      budget_.add_earlier(outcome.seconds / jobs_.workers());
    }
    if (outcome.thrown) {
      failed(one, outcome.thrown);
      return {};
    }
    interrupted_ = !is_whole(**outcome.result);
    return outcome.result;
  }

  /// Scores candidate i, all of whose fits so far are made.
  void score(size_t i) {
    const at::NoGradGuard no_grad;
    const auto begin = Clock::now();
    const std::vector<HeldOutAnswers> parts = held_out_answers(tried_[i], rows_);
    budget_.set_aside(i, seconds_since(begin));
    if (rows_.in_folds && tried_[i].candidate.learns_all())
      budget_.set_aside_fit(i, budget_.seconds_to_all_rows(tried_[i]));
    held_[i] = score_candidate(tried_[i], rows_, parts, targets_, options_.tails == "auto");
  }

  /// Weighs the candidates, and keeps of each the members that answer.
  SearchResult combined() {
    at::NoGradGuard no_grad;
    SearchResult found;
    found.interrupted = interrupted_;
    for (TriedCandidate& one : tried_)
      if (interrupted_ && one.left_out.empty() && !std::isfinite(one.nll)) one.left_out = "interrupted";
    found.late = fewer_fits_ || std::ranges::any_of(tried_, &TriedCandidate::for_time);
    if (timed_ > 0) found.core_share = cpu_ / timed_;
    found.held = targets_.size(0);
    if (!has_answer() && failure_) std::rethrow_exception(failure_);
    if (!has_answer())
      throw NumericalError(
          "[auto] expected a fitted candidate; received none: stopped before the first one ended");
    const Weighting weighed = weigh(tried_, held_, targets_, options_.combine == "best", held_weights(rows_));
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
  const SearchRows& rows_;
  const std::vector<Candidate> candidates_;
  const FitContext context_;
  at::Tensor targets_;
  SearchBudget budget_;
  CandidateRace race_;
  double cpu_ = 0, timed_ = 0;  // of the fits in this process: CPU time, and seconds
  std::vector<TriedCandidate> tried_;
  std::vector<std::optional<Predictive>> held_;    // tempered answers to the held-out rows, by candidate
  bool interrupted_ = false, fewer_fits_ = false;  // the latter: than with more time
  std::exception_ptr failure_;
  FitJobs jobs_;  // the last member: its threads use the others
};

}  // namespace

SearchResult search(const AutoOptions& options, const nlohmann::json& passed_on, const SearchRows& rows,
                    const FitContext& context) {
  return Search(options, passed_on, rows, context).run();
}

}  // namespace slimbayes
