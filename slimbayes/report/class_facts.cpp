#include "slimbayes/report/class_facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/selective.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/report/coverage_facts.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr int64_t kShares = 20, kEntropyBins = 24;

ReliabilityFact reliability_of(const ScoredExamples& s, const ReliabilityBins& bins, double ece,
                               const at::Tensor& right, const at::Tensor& confidence) {
  ReliabilityFact out{bins, ece};
  const double accuracy = mean_of(s, right), sure = mean_of(s, confidence);
  const auto [low, high] = binomial_band(sure, s.judged_size(), 0.99);
  out.says = fmt::format(
      "The model is sure to {} on average and right in {}: {}. In the bins the two differ by {:.2g} points "
      "on "
      "average.",
      percent_text(sure), percent_text(accuracy),
      accuracy < low    ? "it is overconfident"
      : accuracy > high ? "it is underconfident"
                        : "the difference may be chance",
      100 * out.ece);
  return out;
}

ConfusionFact confusion_of(const ClassScores& scores, std::string_view noun) {
  ConfusionFact out{scores.classes, scores.confusion.value(), ""};
  const auto& counts = out.counts;
  int64_t most = 0;
  size_t from = 0, to = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    for (size_t j = 0; j < counts.size(); ++j)
      if (i != j && counts[i][j] > most) {
        most = counts[i][j];
        from = i;
        to = j;
      }
  const auto name = [&](size_t i) { return in_plain_quotes(out.classes[i]); };
  out.says = most == 0 ? fmt::format("No {} is answered wrongly.", noun)
                       : fmt::format("The most frequent mistake is {} answered as {} ({}).", name(from),
                                     name(to), counted(most, noun));
  return out;
}

std::optional<SelectiveFact> selective_of(const ScoredExamples& s, const at::Tensor& right,
                                          const Scores& uncertainty) {
  std::vector<double> shares;
  for (int64_t i = 1; i <= kShares; ++i) shares.push_back(static_cast<double>(i) / kShares);
  std::map<std::string, std::vector<double>> by;
  for (const auto& [name, score] : uncertainty) {
    if (score.min().item<double>() == score.max().item<double>()) continue;  // selects no row
    by[name] = selective_means(score, right, shares, s.weight);
  }
  if (by.empty()) return std::nullopt;
  const auto confidence = by.find("max_softmax");
  const std::vector<double>& first = (confidence == by.end() ? by.begin() : confidence)->second;
  const double half = first[kShares / 2 - 1], all = first[kShares - 1];
  return SelectiveFact{shares, by,
                       fmt::format("Of the surer half of the {}s {} are right, of all {}{}.", s.noun(),
                                   percent_text(half), percent_text(all),
                                   half > all + 0.005 ? ": the confidence tells right from wrong"
                                                      : ": the confidence hardly tells right from wrong")};
}

EntropyFact entropy_of(const ScoredExamples& s, const Classes& p, const at::Tensor& right) {
  const double most = std::log(static_cast<double>(p.probabilities.size(1)));
  std::vector<double> edges;
  for (int64_t i = 0; i <= kEntropyBins; ++i)
    edges.push_back(most * static_cast<double>(i) / static_cast<double>(kEntropyBins));
  const at::Tensor bin =
      (p.predictive_entropy / most * kEntropyBins).floor().clamp(0, kEntropyBins - 1).to(at::kLong);
  const auto rows_where = [&](const at::Tensor& mask) {
    return list_of(at::bincount(bin.masked_select(mask), {}, kEntropyBins));
  };
  const at::Tensor is_right = right > 0.5, entropy = p.predictive_entropy;
  const at::Tensor wrong = (~is_right).nonzero().squeeze(1), others = is_right.nonzero().squeeze(1);
  std::string says = "No answer is wrong.";
  if (wrong.numel() > 0 && others.numel() > 0)
    says = fmt::format("The mean entropy of the wrong answers is {:.2f} nats, of the right ones {:.2f}.",
                       mean_of(s, entropy, wrong), mean_of(s, entropy, others));
  return {edges, rows_where(is_right), rows_where(~is_right), says};
}

SetFact sets_of(const ScoredExamples& s, const PredictionSet& set, const Evaluation& metrics) {
  const double coverage = metrics.coverage.value(), size = metrics.classes.value().set_size.value();
  const auto [low, high] = binomial_band(s.level(), s.judged_size(), 0.99);
  return {s.level(), coverage, size, list_of(at::bincount(set.sum(1), {}, set.size(1) + 1)),
          fmt::format("The sets hold the true class in {} of the {}s at the nominal {}{}; a set has "
                      "{:.3g} classes on average.",
                      percent_text(coverage), s.noun(), percent_text(s.level()),
                      coverage < low    ? ": too seldom"
                      : coverage > high ? ": more often than asked"
                                        : ", as they should",
                      size)};
}

/// Returns whether the most probable class of each row is the true one. [n]
at::Tensor right_answers(const ScoredExamples& s) {
  return (predicted_class(std::get<Classes>(s.answer())) == s.y.to(at::kLong)).to(at::kDouble);
}

/// Returns the probability of the most probable class of each row. [n]
at::Tensor confidence_of(const Classes& p) { return std::get<0>(p.probabilities.max(1)); }

}  // namespace

ClassFacts class_facts(const ScoredExamples& s, const Evaluation& metrics, const ReliabilityBins& bins) {
  const ClassScores& scores = metrics.classes.value();
  const auto& p = std::get<Classes>(s.answer());
  const at::Tensor right = right_answers(s), confidence = confidence_of(p);
  ClassFacts out;
  out.reliability = reliability_of(s, bins, scores.ece, right, confidence);
  out.entropy = entropy_of(s, p, right);
  if (scores.confusion) out.confusion = confusion_of(scores, s.noun());
  Scores uncertainty = {{"max_softmax", 1 - confidence}};
  uncertainty["mutual_information"] = mutual_information(p);
  out.selective = selective_of(s, right, uncertainty);
  if (const auto& set = s.answers.levels.front().set) out.sets = sets_of(s, *set, metrics);
  return out;
}

std::vector<GroupFact> class_groups(const ScoredExamples& s) {
  return group_facts(s, right_answers(s), confidence_of(std::get<Classes>(s.answer())), {});
}

}  // namespace slimbayes
