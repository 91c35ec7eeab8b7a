#include "slimbayes/methods/ood.h"

#include <ATen/ATen.h>

#include "slimbayes/data/outside.h"
#include "slimbayes/methods/table_model.h"

namespace slimbayes {

namespace {

Scores scores(const Regression& p, const std::string& score) {
  if (score.empty()) return {};
  return {{score, (score == "total_sd" ? total_var(p) : p.epistemic_var).sqrt()}};
}

Scores scores(const Classes& p, const std::string&) {
  return {{"mutual_information", mutual_information(p)},
          {"entropy", p.predictive_entropy},
          {"uncertain", 1 - std::get<0>(p.probabilities.max(-1))}};
}

Scores scores(const Counts& p, const std::string&) { return {{"log_rate_sd", p.rate.log_var.sqrt()}}; }

Scores scores(const Intensity& p, const std::string&) { return {{"log_rate_sd", p.rate.log_var.sqrt()}}; }

}  // namespace

Scores ood_scores(const Predictive& answer, const std::string& score) {
  return std::visit([&](const auto& one) { return scores(one, score); }, answer);
}

Scores TableModel::ood(const Table& table) const {
  Scores scores = ood_scores(answer(table), ood_score(find_method(method_), options_));
  if (const auto far = outside(*encoder_, table)) {
    scores["outside"] = at::tensor(far->beyond, at::kDouble);
    scores["distance"] = at::tensor(far->distance, at::kDouble);
  }
  return scores;
}

}  // namespace slimbayes
