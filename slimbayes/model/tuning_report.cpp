#include "slimbayes/model/tuning_report.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"

namespace slimbayes {
namespace {

constexpr const char *kWhere = "tuning report", *kNll = "valid_nll", *kFailed = "failed";

/// Returns whether the value is an object of numbers and either a validation NLL or the text of a failure.
bool is_entry(const nlohmann::json& entry) {
  if (!entry.is_object() || entry.contains(kNll) == entry.contains(kFailed)) return false;
  return std::ranges::all_of(entry.items(), [](const auto& item) {
    return item.key() == kFailed ? item.value().is_string() : item.value().is_number();
  });
}

TriedOptions entry_from_json(nlohmann::json entry) {
  TriedOptions tried;
  if (entry.contains(kNll)) tried.valid_nll = entry.at(kNll).get<double>();
  if (entry.contains(kFailed)) tried.failed = entry.at(kFailed).get<std::string>();
  entry.erase(kNll);
  entry.erase(kFailed);
  tried.options = std::move(entry);
  return tried;
}

}  // namespace

TuningReport tuning_from_json(const nlohmann::json& json) {
  const JsonReader read(json, kWhere);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  TuningReport report;
  report.options = read.texts("options");
  const nlohmann::json& tried = read.value("tried");
  check(tried.is_array() && std::ranges::all_of(tried, is_entry), kWhere,
        "a list of what was tried, each with values and a valid_nll or why it failed", "others");
  for (const nlohmann::json& entry : tried) report.tried.push_back(entry_from_json(entry));
  if (read.has("best")) {
    const nlohmann::json& best = read.value("best");
    check(is_entry(best) && best.contains(kNll), kWhere, "a best combination with its valid_nll", "another");
    report.best = entry_from_json(best);
  }
  if (read.has("combinations")) report.combinations = read.count("combinations", 0, kMost);
  if (read.has("spread")) report.spread = read.number("spread");
  if (read.has("untried")) report.untried = read.count("untried", 1, kMost);
  if (read.has("interrupted")) report.interrupted = true;
  return report;
}

bool tuning_interrupted(const std::optional<TuningReport>& report) { return report && report->interrupted; }

}  // namespace slimbayes
