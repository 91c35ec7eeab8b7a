#include "slimbayes/methods/portfolio/portfolio_choice.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"

namespace slimbayes {

namespace {

/// The error, in sds of the target, up to which a network for tables without noise is tried.
constexpr double kLittleNoise = 0.1;
constexpr double kNear = 0.05;  // nats a row by which a straight line may fit log y worse than y

/// Returns the NLL of a method on the target as it is and on its logarithm; NaN where it has none.
std::pair<double, double> both_views(const std::vector<TriedCandidate>& all, const std::string& method) {
  std::pair<double, double> nll{NAN, NAN};
  for (const TriedCandidate& t : all)
    if (t.candidate.method == method && has_score(t))
      (t.candidate.warp == TargetWarp::log ? nll.second : nll.first) = t.nll;
  return nll;
}

}  // namespace

bool has_score(const TriedCandidate& tried) { return tried.left_out.empty() && std::isfinite(tried.nll); }

bool has_more_than_plain(const std::vector<TriedCandidate>& all) {
  return std::ranges::any_of(
      all, [](const TriedCandidate& t) { return has_score(t) && !find_method(t.candidate.method).plain; });
}

bool comes_after_another(const TriedCandidate& one, const std::vector<TriedCandidate>& all) {
  return !find_method(one.candidate.method).plain && std::ranges::any_of(all, [&](const TriedCandidate& t) {
    return has_score(t) && !find_method(t.candidate.method).plain &&
           t.candidate.method != one.candidate.method;
  });
}

std::string why_not_begun(const TriedCandidate& one, const std::vector<TriedCandidate>& all) {
  if (find_method(one.candidate.method).plain) return "";
  if (!one.candidate.network.empty() && std::ranges::none_of(all, [](const TriedCandidate& t) {
        return has_score(t) && t.error <= kLittleNoise;
      }))
    return fmt::format("no held-out error of the others is below {} sd of the target", kLittleNoise);
  // The straight lines decide whether the logarithm is tried at all, the first method that is more than a
  // line decides for the others.
  const auto [line, line_of_log] = both_views(all, "ridge");
  if (one.candidate.warp == TargetWarp::log && line_of_log > line + kNear)
    return "a straight line fits y better than log y";
  for (const TriedCandidate& t : all) {
    const std::string& first = t.candidate.method;
    if (find_method(first).plain || !has_score(t)) continue;
    if (first == one.candidate.method) return "";
    const auto [as_is, log] = both_views(all, first);
    const bool worse = one.candidate.warp == TargetWarp::log ? log > as_is : as_is > log;
    return worse ? fmt::format("{} fits {} better, which alone the others try", first,
                               log > as_is ? "y" : "log y")
                 : "";
  }
  return "";
}

void leave_for_time(TriedCandidate& one, const std::string& why) {
  one.left_out = why;
  one.for_time = true;
}

void try_log_target_first(std::vector<TriedCandidate>& all, size_t next) {
  if (next + 1 >= all.size() || !all[next].members.empty()) return;
  TriedCandidate &one = all[next], &other = all[next + 1];
  const auto [line, line_of_log] = both_views(all, "ridge");
  if (line_of_log < line && one.candidate.method == other.candidate.method &&
      other.candidate.warp == TargetWarp::log && !find_method(one.candidate.method).plain)
    std::swap(one, other);
}

std::vector<bool> candidates_to_copy(const std::vector<TriedCandidate>& all,
                                     std::vector<std::optional<Predictive>> held, const SearchRows& rows,
                                     const at::Tensor& targets, const AutoOptions& options) {
  std::vector<bool> worth(all.size(), false);
  if (rows.in_folds) return worth;
  const at::NoGradGuard no_grad;
  std::vector<TriedCandidate> first = all;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!has_score(first[i]) || first[i].members.size() == 1) continue;
    first[i].members.resize(1);
    held[i] =
        score_candidate(first[i], rows, held_out_answers(first[i], rows), targets, options.tails == "auto");
  }
  if (std::ranges::none_of(held, [](const auto& h) { return h.has_value(); })) return worth;
  weigh(first, held, targets, options.combine == "best", held_weights(rows));
  for (size_t i = 0; i < first.size(); ++i) worth[i] = first[i].weight > 0;
  return worth;
}

}  // namespace slimbayes
