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

using nlohmann::json;

constexpr int64_t kShares = 20, kEntropyBins = 24;

json reliability_of(const ScoredExamples& s, const json& metrics, const at::Tensor& right,
                    const at::Tensor& confidence) {
  json out = metrics.at("reliability");
  out["ece"] = metrics.at("ece");
  const double accuracy = right.mean().item<double>(), sure = confidence.mean().item<double>();
  const auto [low, high] = binomial_band(sure, s.size(), 0.99);
  out["says"] = fmt::format(
      "The model is sure to {} on average and right in {}: {}. In the bins the two differ by {:.2g} points "
      "on "
      "average.",
      percent_text(sure), percent_text(accuracy),
      accuracy < low    ? "it is overconfident"
      : accuracy > high ? "it is underconfident"
                        : "the difference may be chance",
      100 * metrics.at("ece").get<double>());
  return out;
}

json confusion_of(const json& metrics, std::string_view noun) {
  const json& counts = metrics.at("confusion");
  const json& classes = metrics.at("classes");
  int64_t most = 0;
  size_t from = 0, to = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    for (size_t j = 0; j < counts.size(); ++j)
      if (i != j && counts[i][j].get<int64_t>() > most) {
        most = counts[i][j].get<int64_t>();
        from = i;
        to = j;
      }
  const auto name = [&](size_t i) { return in_plain_quotes(classes[i].get<std::string>()); };
  return {{"classes", classes},
          {"counts", counts},
          {"says", most == 0 ? std::string(fmt::format("No {} is answered wrongly.", noun))
                             : fmt::format("The most frequent mistake is {} answered as {} ({}).", name(from),
                                           name(to), counted(most, noun))}};
}

json selective_of(const ScoredExamples& s, const at::Tensor& right, const Scores& uncertainty) {
  std::vector<double> shares;
  for (int64_t i = 1; i <= kShares; ++i) shares.push_back(static_cast<double>(i) / kShares);
  json by = json::object();
  for (const auto& [name, score] : uncertainty) {
    if (score.min().item<double>() == score.max().item<double>()) continue;  // selects no row
    by[name] = selective_means(score, right, shares);
  }
  if (by.empty()) return {};
  const json& first = by.contains("max_softmax") ? by["max_softmax"] : by.begin().value();
  const auto half = first[kShares / 2 - 1].get<double>(), all = first[kShares - 1].get<double>();
  return {{"share", shares},
          {"by", by},
          {"says", fmt::format("Of the surer half of the {}s {} are right, of all {}{}.", s.noun(),
                               percent_text(half), percent_text(all),
                               half > all + 0.005 ? ": the confidence tells right from wrong"
                                                  : ": the confidence hardly tells right from wrong")}};
}

json entropy_of(const Classes& p, const at::Tensor& right) {
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
  std::string says = "No answer is wrong.";
  if (const at::Tensor wrong = entropy.masked_select(~is_right);
      wrong.numel() > 0 && is_right.any().item<bool>())
    says = fmt::format("The mean entropy of the wrong answers is {:.2f} nats, of the right ones {:.2f}.",
                       wrong.mean().item<double>(), entropy.masked_select(is_right).mean().item<double>());
  return {
      {"edges", edges}, {"right", rows_where(is_right)}, {"wrong", rows_where(~is_right)}, {"says", says}};
}

json sets_of(const ScoredExamples& s, const PredictionSet& set, const json& metrics) {
  const auto coverage = metrics.at("coverage").get<double>();
  const auto [low, high] = binomial_band(s.level(), s.size(), 0.99);
  return {{"level", s.level()},
          {"coverage", coverage},
          {"size", metrics.at("set_size")},
          {"sizes", list_of(at::bincount(set.sum(1), {}, set.size(1) + 1))},
          {"says", fmt::format("The sets hold the true class in {} of the {}s at the nominal {}{}; a set has "
                               "{:.3g} classes on average.",
                               percent_text(coverage), s.noun(), percent_text(s.level()),
                               coverage < low    ? ": too seldom"
                               : coverage > high ? ": more often than asked"
                                                 : ", as they should",
                               metrics.at("set_size").get<double>())}};
}

}  // namespace

json class_facts(const ScoredExamples& s, const json& metrics) {
  const auto& p = std::get<Classes>(s.answer());
  const at::Tensor right = (predicted_class(p) == s.y.to(at::kLong)).to(at::kDouble),
                   confidence = std::get<0>(p.probabilities.max(1));
  json out = {{"reliability", reliability_of(s, metrics, right, confidence)},
              {"entropy", entropy_of(p, right)},
              {"groups", group_facts(s, right, confidence, {})}};
  if (metrics.contains("confusion")) out["confusion"] = confusion_of(metrics, s.noun());
  Scores uncertainty = {{"max_softmax", 1 - confidence}};
  uncertainty["mutual_information"] = mutual_information(p);
  if (json selective = selective_of(s, right, uncertainty); !selective.is_null())
    out["selective"] = selective;
  if (const auto& set = s.answers.levels.front().set) out["sets"] = sets_of(s, *set, metrics);
  return out;
}

}  // namespace slimbayes
