// Methods that fit several others and choose among them by held-out rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/method_entry.h"
#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

std::vector<std::string> candidate_names(const std::string& text) {
  std::vector<std::string> names;
  if (text == AutoOptions{}.candidates) return names;
  std::istringstream all(text);
  for (std::string name; std::getline(all, name, ',');)
    if (!name.empty()) names.push_back(name);
  return names;
}

std::string wild_text(double share, double factor) {
  constexpr double kWild = 1.5;
  const double times = std::sqrt(std::max(0.0, factor));
  if (times < kWild) return fmt::format("{:.2g} % of the density a Gaussian", 100 * share);
  if (share > 0.5)  // most rows are not wild
    return fmt::format("{:.2g} % of the rows with an sd {:.3g} times that of the others", 100 * share, times);
  return fmt::format("{:.2g} % wild rows with an sd {:.3g} times that of the others", 100 * share, times);
}

std::span<const PortfolioEntry> portfolio(TaskKind task, InputKind kind) {
  constexpr int64_t kAny = int64_t{1} << 60, kMostExact = 12000;
  // The first method that is more than a line decides whether the others learn the target or its logarithm.
  // Beyond the folds dbk-exact takes longer than all others together, so it comes last. As far as gp-exact
  // and dbk-exact go, realmlp took up to twice the time and changed nothing (experiments/exact_tables).
  static constexpr PortfolioEntry kNumbers[] = {{"constant", 1, 0, kAny},
                                                {"ridge", 1, 0, kAny},
                                                {"bag-of-words", 1, 0, kAny},
                                                {"gp-exact", 1, 0, 2500},
                                                {"dbk-exact", 1, 0, kMostFoldRows},
                                                {"dnn", 4, 0, kAny},
                                                {"dbk", 3, 1000, kAny},
                                                {"bll", 3, kMostExact + 1, 50000, "realmlp"},
                                                {"dbk-exact", 1, kMostFoldRows + 1, kMostExact}};
  // On tables vbll took most of the time and added next to nothing to the mixture (experiments/classes).
  static constexpr PortfolioEntry kClasses[] = {
      {"constant", 1, 0, kAny}, {"logistic", 1, 0, kAny}, {"extra-trees", 1, 0, kAny}, {"dnn", 3, 0, kAny}};
  static constexpr PortfolioEntry kOthers[] = {{"constant", 1, 0, kAny},    {"logistic", 1, 0, kAny},
                                               {"extra-trees", 1, 0, kAny}, {"bag-of-words", 2, 0, kAny},
                                               {"vbll", 1, 0, kAny},        {"dnn", 3, 0, kAny}};
  if (task == TaskKind::regression) return kNumbers;
  if (task == TaskKind::classification && kind == InputKind::table) return kClasses;
  return kOthers;
}

namespace {

/// Returns the names of the candidates that the options allow for any task, without those of a network of
/// their own: an option that such a candidate alone has would reach nothing on most tables.
std::vector<std::string> possible_candidates(const nlohmann::json& given) {
  const auto named = given.find("candidates");
  std::vector<std::string> names = named != given.end() && named->is_string()
                                       ? candidate_names(named->get<std::string>())
                                       : std::vector<std::string>{};
  if (!names.empty()) return names;
  for (const TaskKind task : {TaskKind::regression, TaskKind::classification})
    for (const PortfolioEntry& entry : portfolio(task, InputKind::text))  // the longest list
      if (std::string_view(entry.network).empty() && std::ranges::find(names, entry.method) == names.end())
        names.emplace_back(entry.method);
  std::ranges::reverse(
      names);  // help shows the defaults of the first method that has an option: of a network
  return names;
}

/// Checks the options for candidates: one of these must have each, and its value must suit all that have it.
void check_passed_on(const nlohmann::json& passed, const std::vector<std::string>& names) {
  std::set<std::string> taken;
  for (const std::string& name : names) {
    const MethodInfo& info = find_method(name);
    const nlohmann::json own = options_among(info, passed);
    info.resolve(own);
    for (const auto& item : own.items()) taken.insert(item.key());
  }
  for (const auto& item : passed.items())
    if (!taken.contains(item.key()))
      throw std::invalid_argument(
          fmt::format("[auto] expected an option of auto or of a candidate ({}); received '{}'; name the "
                      "`.method` that has it",
                      fmt::join(names, ", "), foreign_text(item.key().substr(0, 80))));
}

}  // namespace

nlohmann::json options_among(const MethodInfo& info, const nlohmann::json& given) {
  nlohmann::json own = nlohmann::json::object();
  for (const OptionDoc& doc : info.options)
    if (given.contains(doc.name)) own[doc.name] = given[doc.name];
  return own;
}

nlohmann::json resolve_auto(const nlohmann::json& given) {
  if (!given.is_object()) return options_to_json(options_from_json<AutoOptions>(given, "auto"));  // throws
  nlohmann::json own = nlohmann::json::object(), passed = own;
  const std::vector<OptionDoc> docs = option_docs<AutoOptions>();
  for (const auto& item : given.items()) {
    if (item.key() == kPassedOn && item.value().is_object()) {
      passed.update(item.value());
      continue;
    }
    const bool mine = std::ranges::find(docs, item.key(), &OptionDoc::name) != docs.end();
    (mine ? own : passed)[item.key()] = item.value();
  }
  nlohmann::json resolved = options_to_json(options_from_json<AutoOptions>(own, "auto"));
  std::set<std::string> once;
  for (const std::string& given_name : candidate_names(resolved["candidates"].get<std::string>())) {
    const std::string& name = find_method(given_name).name;
    if (name == "auto")
      throw std::invalid_argument("[auto] expected candidates other than auto; received 'auto'");
    if (!once.insert(name).second)
      throw std::invalid_argument(
          fmt::format("[auto] expected each candidate once; received '{}' again", name));
  }
  check_passed_on(passed, possible_candidates(resolved));
  if (!passed.empty()) resolved[kPassedOn] = std::move(passed);
  return resolved;
}

namespace {

MethodInfo automatic() {
  MethodInfo info =
      network_method("auto", {TaskKind::regression, TaskKind::classification, TaskKind::counts});
  info.summary =
      "The default: fits several methods, and answers with those together that predict held-out rows best.";
  info.paper = "stacking of predictive distributions, Yao et al. 2018";
  info.parts = SdParts::members;
  info.input_scale = "standard";
  info.most_fold_rows = kMostFoldRows;
  info.most_fold_rows_of_classes = kMostFoldRowsOfClasses;
  info.options = option_docs<AutoOptions>();
  info.resolve = resolve_auto;
  info.candidates = possible_candidates;
  return info;
}

}  // namespace

std::vector<MethodInfo> portfolio_methods() { return {automatic()}; }

}  // namespace slimbayes
