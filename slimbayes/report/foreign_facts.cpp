#include "slimbayes/report/foreign_facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr int64_t kScoreBins = 24, kFewestFar = 50;

/// Returns the histogram of a score from its least value to its 99.5 % quantile. `outside` [n] bool may be
/// undefined.
ScoreHistogram histogram_of(const at::Tensor& score, const at::Tensor& outside) {
  const auto [sorted, order] = score.sort();
  const int64_t n = score.size(0);
  const double low = sorted[0].item<double>();
  double high = sorted[std::min(n - 1, static_cast<int64_t>(0.995 * static_cast<double>(n)))].item<double>();
  if (high <= low) high = low + std::max(1e-12, 0.01 * std::abs(low));
  std::vector<double> edges;
  for (int64_t i = 0; i <= kScoreBins; ++i)
    edges.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(kScoreBins));
  const at::Tensor place = (score - low) / (high - low) * kScoreBins, shown = score <= high,
                   bin = place.floor().clamp(0, kScoreBins - 1).to(at::kLong);
  ScoreHistogram out{edges, list_of(at::bincount(bin.masked_select(shown), {}, kScoreBins)),
                     n - shown.sum().item<int64_t>()};
  if (outside.defined())
    out.outside = list_of(at::bincount(bin.masked_select(shown & outside), {}, kScoreBins));
  return out;
}

/// Returns the score of foreign rows that the method offers: the first of the answer's scores among these.
std::string offered_score(const Scores& scores) {
  for (const char* name : {"epistemic_sd", "log_rate_sd", "mutual_information", "total_sd", "entropy"}) {
    const auto found = scores.find(name);
    if (found != scores.end() && found->second.max().item<double>() > found->second.min().item<double>())
      return name;
  }
  return "";
}

std::optional<FarFact> far_rows(const ScoredExamples& s, const at::Tensor& distance) {
  const int64_t n = s.size(), tenth = n / 10;
  const at::Tensor order = at::argsort(distance, /*stable=*/true, 0, /*descending=*/true),
                   far = order.slice(0, 0, tenth), near = order.slice(0, tenth);
  at::Tensor error, spread;
  const auto* classes = std::get_if<Classes>(&s.answer());
  if (classes != nullptr) {
    error = (predicted_class(*classes) != s.y.to(at::kLong)).to(at::kDouble);
    spread = classes->predictive_entropy;
  } else {
    const auto [mean, sd] = mean_and_sd(s.answer());
    error = (s.y - mean).square();
    spread = sd;
  }
  const auto quotient = [&](const at::Tensor& x) {
    return (x.index_select(0, far).mean() / x.index_select(0, near).mean()).item<double>();
  };
  const double of_error = classes != nullptr ? quotient(error) : std::sqrt(quotient(error));
  if (!std::isfinite(of_error)) return std::nullopt;
  return FarFact{tenth, of_error, quotient(spread)};
}

std::string says_of_foreign(const ScoredExamples& s, const ForeignFact& facts) {
  std::string text;
  if (facts.outside) {
    const int64_t rows = facts.outside->rows;
    text = rows == 0 ? fmt::format("No {} lies outside the training range.", s.noun())
                     : fmt::format("{} of {} {}s lie outside the training range in some column.", rows,
                                   s.size(), s.noun());
  }
  if (!facts.far) return text;
  const bool classes = are_classes(s.answer());
  const double error = facts.far->error, sd = facts.far->sd;
  text += fmt::format(
      "{}The tenth of the {}s that lies farthest from the training mean has {:.2g} times the {} of the "
      "others "
      "and {:.2g} times the {}{}.",
      text.empty() ? "" : " ", s.noun(), error, classes ? "rate of wrong answers" : "RMSE", sd,
      classes ? "entropy" : "sd", error > 1.25 * sd ? ": the uncertainty grows less than the error" : "");
  return text;
}

}  // namespace

std::optional<ForeignFact> foreign_facts(const ScoredExamples& s) {
  const Scores scores = s.model.ood(s.examples, s.answers);
  at::Tensor beyond;
  if (const auto found = scores.find("outside"); found != scores.end()) beyond = found->second > 0;
  ForeignFact facts;
  for (const std::string& name : {std::string("distance"), offered_score(scores)}) {
    const auto found = scores.find(name);
    if (found == scores.end() || !at::isfinite(found->second).all().item<bool>()) continue;
    facts.scores[name] = histogram_of(found->second.to(at::kDouble), beyond);
    if (name == "distance" && s.size() >= kFewestFar) facts.far = far_rows(s, found->second);
  }
  if (facts.scores.empty()) return std::nullopt;
  if (beyond.defined()) {
    facts.outside = OutsideFact{beyond.sum().item<int64_t>()};
    if (const auto far = outside(s.model.encoder(), s.examples))
      for (const Outside::Beyond& column : far->columns)
        facts.outside->columns.push_back({column.name, column.rows, column.farthest});
  }
  facts.says = says_of_foreign(s, facts);
  return facts;
}

}  // namespace slimbayes
