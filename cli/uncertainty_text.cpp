#include "cli/uncertainty_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes::cli {
namespace {

constexpr double kShownShares[] = {1, 0.9, 0.8, 0.7};

/// Returns the scores of a report in the order in which they are shown: the first score, then the others.
std::vector<std::string> scores_of(const SelectiveReport& selective) {
  std::vector<std::string> names = {selective.score};
  for (const auto& [name, metrics] : selective.by)
    if (name != names.front()) names.push_back(name);
  return names;
}

bool is_shown(double share) {
  return std::ranges::any_of(kShownShares, [&](double x) { return std::abs(x - share) < 1e-9; });
}

/// A metric of the kept rows: its name and its field.
struct KeptMetric {
  std::string name;
  std::optional<std::vector<double>> KeptRowMetrics::*of;
};

/// Returns one line of the table of kept rows: a metric by one score, at the shown shares, and its gain.
std::vector<Cell> line_of(const SelectiveReport& selective, const KeptMetric& metric,
                          const std::string& score) {
  const KeptRowMetrics& by = selective.by.at(score);
  std::vector<Cell> line = {{fmt::format("{} by {}", metric.name, score)}};
  for (size_t i = 0; i < selective.share.size(); ++i)
    if (is_shown(selective.share[i])) line.push_back({rounded((by.*metric.of).value()[i])});
  const bool relative = by.gain_share && by.gain_share->contains(metric.name);
  line.push_back({relative ? fmt::format("{:+.1f} %", 100 * by.gain_share->at(metric.name))
                           : fmt::format("{:+.4f}", by.gain.at(metric.name))});
  return line;
}

/// Returns how well the scores tell the wrong rows from the right ones, as a text table.
std::string errors_text(const UncertaintyReport& report, int64_t n, std::string_view noun) {
  const ErrorsReport& errors = *report.errors;
  std::string text =
      fmt::format("\nerrors found by uncertainty: {} of {} wrong", errors.wrong, counted(n, noun));
  if (errors.absent) return text + ", so that there is nothing to tell apart\n";
  std::vector<std::vector<Cell>> rows = {{{"score"}, {"AUPR-Err"}, {"AUPR-Succ"}}};
  for (const std::string& score : scores_of(report.selective))
    rows.push_back(
        {{score}, {decimals(errors.aupr_err->at(score))}, {decimals(errors.aupr_succ->at(score))}});
  rows.push_back({{"by chance"}, {decimals(errors.rate)}, {decimals(1 - errors.rate)}});
  return text + "\n" + text_table(rows);
}

/// Returns what the score "residual" is worth beside its control, and the rank of its projectors.
std::string projectors_text(const SeparationReport& ood) {
  std::string text;
  if (ood.residual_gain)
    text += fmt::format("residual beside gradient_norm, which needs no inducing weights: AUROC {:+.4f}\n",
                        *ood.residual_gain);
  for (const ProjectorFact& one : ood.projectors.value_or(std::vector<ProjectorFact>{})) {
    text += fmt::format("residual at {}: ", shown(one.layer));
    if (one.directions == 0) {
      text += "not given, because no training row has a gradient at this layer\n";
      continue;
    }
    text += fmt::format("the projector has rank {:.1f} of {}", one.rank, one.columns);
    if (one.kept == one.columns)
      text += " and leaves nothing, so there is no residual: fit with more --inducing-columns";
    else if (one.kept > 0)
      text += fmt::format(" and leaves nothing; {} with 90 % of its energy take its place",
                          one.kept == 1 ? "1 direction" : fmt::format("{} directions", one.kept));
    if (one.directions < one.columns)
      text += fmt::format("; the training rows have {} directions", one.directions);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string selective_text(const UncertaintyReport& report, int64_t n, std::string_view noun) {
  const SelectiveReport& selective = report.selective;
  const bool classes = report.errors.has_value();
  std::string text = classes ? errors_text(report, n, noun) : "";
  std::vector<std::vector<Cell>> rows = {{{"share kept"}}};
  for (double share : selective.share)
    if (is_shown(share)) rows[0].push_back({fmt::format("{:g} %", 100 * share)});
  rows[0].push_back({"gain"});
  std::vector<std::string> names = scores_of(selective);
  names.resize(classes ? 2 : 1);  // of classes mutual_information and entropy
  std::erase_if(names, [&](const std::string& name) { return selective.by.at(name).constant; });
  if (names.empty())
    return text + fmt::format("\nselective prediction: {} is the same for every {} and selects none\n",
                              selective.score, noun);
  const KeptMetric nll{"nll", &KeptRowMetrics::nll};
  if (classes) {
    for (const std::string& score : names)
      rows.push_back(line_of(selective, {"accuracy", &KeptRowMetrics::accuracy}, score));
    rows.push_back(line_of(selective, nll, names.front()));
  } else {
    for (const KeptMetric& metric :
         {KeptMetric{"mae", &KeptRowMetrics::mae}, KeptMetric{"rmse", &KeptRowMetrics::rmse}, nll})
      rows.push_back(line_of(selective, metric, names.front()));
  }
  return text +
         fmt::format("\nselective prediction: only the {}s that the model is most certain of\n", noun) +
         text_table(rows);
}

std::string separation_text(const SeparationReport& ood, const std::string& source) {
  std::vector<std::vector<Cell>> rows = {
      {{"score"}, {"AUROC"}, {"FPR@95"}, {"TPR@5"}, {"AUPR-OOD"}, {"AUPR-In"}, {"ratio"}}};
  for (const auto& [score, auroc] : ood.auroc) {
    std::vector<Cell>& line = rows.emplace_back(std::vector<Cell>{{score}, {decimals(auroc)}});
    for (const auto* metric : {&ood.fpr95, &ood.tpr5, &ood.aupr_ood, &ood.aupr_in})
      line.push_back({decimals(metric->at(score))});
    const auto ratio = ood.ratio.find(score);
    line.push_back({ratio == ood.ratio.end() ? "-" : rounded(ratio->second)});
    if (std::ranges::find(ood.inverted, score) != ood.inverted.end())
      line.push_back({"inverted: lower on the foreign data, not usable"});
  }
  std::vector<Cell>& chance = rows.emplace_back(std::vector<Cell>{{"by chance"}});
  for (double metric :
       {ood.chance.auroc, ood.chance.fpr95, ood.chance.tpr5, ood.chance.aupr_ood, ood.chance.aupr_in})
    chance.push_back({decimals(metric)});
  chance.push_back({"1"});
  std::string text =
      fmt::format("\ntelling {} from the data: {} foreign beside {}\n", shown(source), ood.n_foreign, ood.n) +
      text_table(rows) +
      "FPR@95: false alarms of a detector that finds 95 % of them\n"
      "TPR@5: share of them that is found at 5 % false alarms\n"
      "ratio: mean score of the foreign data over that of the data\n";
  text += projectors_text(ood);
  if (ood.left_out)
    text += fmt::format(
        "{} foreign rows, too far for any answer, are left out: the data are more foreign than this\n",
        *ood.left_out);
  return text;
}

}  // namespace slimbayes::cli
