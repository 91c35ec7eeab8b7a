#include "slimbayes/model/tuning_report.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

void check_tuning_report(const nlohmann::json& report) {
  constexpr const char* kWhere = "tuning report";
  const auto is_entry = [](const nlohmann::json& entry) {
    if (!entry.is_object() || entry.contains("valid_nll") == entry.contains("failed")) return false;
    return std::ranges::all_of(entry.items(), [](const auto& item) {
      return item.key() == "failed" ? item.value().is_string() : item.value().is_number();
    });
  };
  const JsonReader read(report, kWhere);
  read.texts("options");
  const nlohmann::json& tried = read.value("tried");
  check(tried.is_array() && std::ranges::all_of(tried, is_entry), kWhere,
        "a list of what was tried, each with values and a valid_nll or why it failed", "others");
  if (read.has("best"))
    check(is_entry(report["best"]) && report["best"].contains("valid_nll"), kWhere,
          "a best combination with its valid_nll", "another");
  if (read.has("spread")) read.number("spread");
  if (read.has("untried")) read.count("untried", 1, std::numeric_limits<int64_t>::max());
}

bool tuning_interrupted(const nlohmann::json& report) {
  return report.is_object() && report.contains("interrupted");
}

}  // namespace slimbayes
