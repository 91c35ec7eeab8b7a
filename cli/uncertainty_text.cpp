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

using nlohmann::json;

constexpr double kShownShares[] = {1, 0.9, 0.8, 0.7};

/// Returns the number with this key, with four decimals.
std::string decimals(const json& numbers, const std::string& key) {
  return fmt::format("{:.4f}", numbers.at(key).get<double>());
}

/// Returns the scores of a report in the order in which they are shown: the first score, then the others.
std::vector<std::string> scores_of(const json& selective) {
  std::vector<std::string> names = {selective.at("score")};
  for (const auto& item : selective.at("by").items())
    if (item.key() != names.front()) names.push_back(item.key());
  return names;
}

bool is_shown(double share) {
  return std::ranges::any_of(kShownShares, [&](double x) { return std::abs(x - share) < 1e-9; });
}

/// Returns one line of the table of kept rows: a metric by one score, at the shown shares, and its gain.
std::vector<Cell> line_of(const json& selective, const std::string& metric, const std::string& score) {
  const json& by = selective.at("by").at(score);
  std::vector<Cell> line = {{fmt::format("{} by {}", metric, score)}};
  for (size_t i = 0; i < selective.at("share").size(); ++i)
    if (is_shown(selective["share"][i])) line.push_back({rounded(by.at(metric)[i].get<double>())});
  const bool relative = by.contains("gain_share") && by["gain_share"].contains(metric);
  line.push_back({relative ? fmt::format("{:+.1f} %", 100 * by["gain_share"][metric].get<double>())
                           : fmt::format("{:+.4f}", by["gain"][metric].get<double>())});
  return line;
}

/// Returns how well the scores tell the wrong rows from the right ones, as a text table.
std::string errors_text(const json& report, std::string_view noun) {
  const json& errors = report.at("errors");
  std::string text =
      fmt::format("\nerrors found by uncertainty: {} of {} wrong", errors["wrong"].get<int64_t>(),
                  counted(report.value("n", int64_t{0}), noun));
  if (errors.contains("absent")) return text + ", so that there is nothing to tell apart\n";
  std::vector<std::vector<Cell>> rows = {{{"score"}, {"AUPR-Err"}, {"AUPR-Succ"}}};
  for (const std::string& score : scores_of(report.at("selective")))
    rows.push_back({{score}, {decimals(errors["aupr_err"], score)}, {decimals(errors["aupr_succ"], score)}});
  const auto rate = errors["rate"].get<double>();
  rows.push_back({{"by chance"}, {fmt::format("{:.4f}", rate)}, {fmt::format("{:.4f}", 1 - rate)}});
  return text + "\n" + text_table(rows);
}

/// Returns what the score "residual" is worth beside its control, and the rank of its projectors.
std::string projectors_text(const json& ood) {
  std::string text;
  if (ood.contains("residual_gain"))
    text += fmt::format("residual beside gradient_norm, which needs no inducing weights: AUROC {:+.4f}\n",
                        ood["residual_gain"].get<double>());
  for (const json& one : ood.value("projectors", json::array())) {
    const auto kept = one["kept"].get<int64_t>(), columns = one["columns"].get<int64_t>(),
               directions = one.value("directions", columns);
    text += fmt::format("residual at {}: ", shown(one["layer"].get<std::string>()));
    if (directions == 0) {
      text += "not given, because no training row has a gradient at this layer\n";
      continue;
    }
    text += fmt::format("the projector has rank {:.1f} of {}", one["rank"].get<double>(), columns);
    if (kept == columns)
      text += " and leaves nothing, so there is no residual: fit with more --inducing-columns";
    else if (kept > 0)
      text += fmt::format(" and leaves nothing; {} with 90 % of its energy take its place",
                          kept == 1 ? "1 direction" : fmt::format("{} directions", kept));
    if (directions < columns) text += fmt::format("; the training rows have {} directions", directions);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string selective_text(const json& report, std::string_view noun) {
  if (!report.contains("selective")) return "";
  const json& selective = report.at("selective");
  const bool classes = report.contains("errors");
  std::string text = classes ? errors_text(report, noun) : "";
  std::vector<std::vector<Cell>> rows = {{{"share kept"}}};
  for (const json& share : selective.at("share"))
    if (is_shown(share)) rows[0].push_back({fmt::format("{:g} %", 100 * share.get<double>())});
  rows[0].push_back({"gain"});
  std::vector<std::string> names = scores_of(selective);
  names.resize(classes ? 2 : 1);  // of classes mutual_information and entropy
  std::erase_if(names,
                [&](const std::string& name) { return selective["by"][name]["constant"].get<bool>(); });
  if (names.empty())
    return text + fmt::format("\nselective prediction: {} is the same for every {} and selects none\n",
                              selective["score"].get<std::string>(), noun);
  if (classes) {
    for (const std::string& score : names) rows.push_back(line_of(selective, "accuracy", score));
    rows.push_back(line_of(selective, "nll", names.front()));
  } else {
    for (const char* metric : {"mae", "rmse", "nll"})
      rows.push_back(line_of(selective, metric, names.front()));
  }
  return text +
         fmt::format("\nselective prediction: only the {}s that the model is most certain of\n", noun) +
         text_table(rows);
}

std::string separation_text(const json& ood, const std::string& source) {
  constexpr const char* kMetrics[] = {"auroc", "fpr95", "tpr5", "aupr_ood", "aupr_in"};
  std::vector<std::vector<Cell>> rows = {
      {{"score"}, {"AUROC"}, {"FPR@95"}, {"TPR@5"}, {"AUPR-OOD"}, {"AUPR-In"}, {"ratio"}}};
  for (const auto& item : ood["auroc"].items()) {
    const std::string& score = item.key();
    std::vector<Cell>& line = rows.emplace_back(std::vector<Cell>{{score}});
    for (const char* metric : kMetrics) line.push_back({decimals(ood[metric], score)});
    line.push_back({ood["ratio"].contains(score) ? rounded(ood["ratio"][score].get<double>()) : "-"});
    if (std::ranges::find(ood["inverted"], json(score)) != ood["inverted"].end())
      line.push_back({"inverted: lower on the foreign data, not usable"});
  }
  std::vector<Cell>& chance = rows.emplace_back(std::vector<Cell>{{"by chance"}});
  for (const char* metric : kMetrics) chance.push_back({decimals(ood["chance"], metric)});
  chance.push_back({"1"});
  std::string text = fmt::format("\ntelling {} from the data: {} foreign beside {}\n", shown(source),
                                 ood["n_foreign"].get<int64_t>(), ood["n"].get<int64_t>()) +
                     text_table(rows) +
                     "FPR@95: false alarms of a detector that finds 95 % of them\n"
                     "TPR@5: share of them that is found at 5 % false alarms\n"
                     "ratio: mean score of the foreign data over that of the data\n";
  text += projectors_text(ood);
  if (ood.contains("left_out"))
    text += fmt::format(
        "{} foreign rows, too far for any answer, are left out: the data are more foreign than this\n",
        ood["left_out"].get<int64_t>());
  return text;
}

}  // namespace slimbayes::cli
