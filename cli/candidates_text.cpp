#include "cli/candidates_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/describe_text.h"
#include "cli/terminal.h"
#include "slimbayes/methods/portfolio/auto_options.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

/// Returns the number with this key; `fallback` if the entry has none.
double number_at(const json& entry, const char* key, double fallback) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number() ? found->get<double>() : fallback;
}

/// Returns the text with this key, safe to print; "" if the entry has none.
std::string text_at(const json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? shown(found->get<std::string>()) : "";
}

/// Returns whether the entry has this key with the value true.
bool is_true(const json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && *found == true;
}

std::string candidate_name(const json& entry) {
  const std::string network = text_at(entry, "network");
  return text_at(entry, "method") + (network.empty() ? "" : " (" + network + ")") +
         (is_true(entry, "log") ? " of log y" : "");
}

/// Returns how the held-out rows have calibrated the answers of the candidate, and whether its fit was cut.
std::string candidate_note(const json& entry) {
  std::vector<std::string> parts;
  const bool used = number_at(entry, "weight", 0) > 0;
  if (!used) parts.emplace_back("not used");
  if (is_true(entry, "cut")) parts.emplace_back("ended early by the time limit");
  if (!used) return fmt::format("{}", fmt::join(parts, ", "));
  if (const double factor = number_at(entry, "factor", 1); factor != 1 && factor >= 0)
    parts.push_back(fmt::format("sd times {:.3g}", std::sqrt(factor)));
  if (const auto by = entry.find("sd_by_row");
      by != entry.end() && by->is_array() && by->size() == 2 && (*by)[0].is_number() && (*by)[1].is_number())
    parts.push_back(
        fmt::format("by row {:.2g} to {:.2g} times that", (*by)[0].get<double>(), (*by)[1].get<double>()));
  if (const double dof = number_at(entry, "dof", NAN); std::isfinite(dof))
    parts.push_back(fmt::format("Student's t with {:.3g} degrees of freedom", dof));
  if (const double share = number_at(entry, "wild_share", 0); share > 0)
    parts.push_back(wild_text(share, number_at(entry, "wild_factor", 1)));
  if (const double power = number_at(entry, "power", 1); power != 1)
    parts.push_back(fmt::format("probabilities to the power {:.3g}", power));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns one line of the table: the name aligned left, the two numbers right.
std::string candidate_line(size_t width, const std::string& name, const std::string& nll,
                           const std::string& weight, const std::string& note) {
  const std::string blanks(width - std::min(width, display_width(name)), ' ');
  std::string line = fmt::format("  {}{}  {:>12}  {:>6}  {}", name, blanks, nll, weight, note);
  line.erase(line.find_last_not_of(' ') + 1);
  return wrapped(line, text_width(), width + 24) + "\n";
}

}  // namespace

std::string candidates_text(const json& facts) {
  const json portfolio = facts.is_object() ? facts.value("portfolio", json()) : json();
  if (!portfolio.is_array()) return "";
  std::vector<const json*> scored;
  std::map<std::string, std::vector<std::string>> left_out;  // names by reason
  size_t width = std::string_view("candidate").size();
  for (const json& entry : portfolio) {
    if (!entry.is_object() || text_at(entry, "method").empty()) continue;
    if (const std::string reason = text_at(entry, "left_out"); !reason.empty()) {
      left_out[reason].push_back(candidate_name(entry));
      continue;
    }
    scored.push_back(&entry);
    width = std::max(width, display_width(candidate_name(entry)));
  }
  if (scored.empty() && left_out.empty()) return "";
  const auto order = [](const json* entry) {
    const double nll = number_at(*entry, "nll", INFINITY);
    return std::pair{-number_at(*entry, "weight", 0), std::isnan(nll) ? INFINITY : nll};
  };
  std::ranges::stable_sort(scored, {}, order);
  std::string text = "\ncandidates\n";
  if (!scored.empty()) text += candidate_line(width, "candidate", "held-out NLL", "weight", "note");
  for (const json* entry : scored) {
    const double nll = number_at(*entry, "nll", NAN), weight = number_at(*entry, "weight", 0);
    text += candidate_line(width, candidate_name(*entry), std::isnan(nll) ? "-" : fmt::format("{:.4f}", nll),
                           weight <= 0      ? "-"
                           : weight < 0.005 ? "<0.01"
                                            : fmt::format("{:.2f}", weight),
                           candidate_note(*entry));
  }
  // Numbers of the metadata are texts.
  const json power_text = json::parse(text_at(facts, "pool_power"), nullptr, /*allow_exceptions=*/false);
  if (const double power = power_text.is_number() ? power_text.get<double>() : 0; power > 0)
    text += indented(
        fmt::format("pooled: the product of the probabilities to the power weight x {:.3g}", power), 2);
  for (const auto& [reason, names] : left_out)
    text += indented(fmt::format("left out, {}: {}", reason, fmt::join(names, ", ")), 2);
  return text;
}

}  // namespace slimbayes::cli
