#include "slimbayes/train/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "slimbayes/catalog/fields.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr std::array<std::string_view, 6> kStopped = {"budget",      "patience",  "time",
                                                      "interrupted", "converged", "failure"};

Stopped stopped_named(const std::string& name) {
  const auto found = std::ranges::find(kStopped, name);
  if (found == kStopped.end())
    throw std::invalid_argument(
        fmt::format("[summary_from_json] expected one of {} in 'stopped'; received '{}'",
                    fmt::join(kStopped, ", "), foreign_text(name)));
  return static_cast<Stopped>(found - kStopped.begin());
}

}  // namespace

std::string_view name_of(Stopped stopped) { return kStopped[static_cast<size_t>(stopped)]; }

std::string Summary::brief(std::string_view noun) const {
  if (steps == 0 && stopped == Stopped::budget)
    return fmt::format("{}, nothing trained", counted(rows, noun));
  const bool closed = steps == 0 && stopped == Stopped::converged;  // solved without steps
  std::string text = counted(rows, noun);
  if (!closed) text += fmt::format(", {} steps", steps);
  if (seconds > 0) text += fmt::format("{} {:.1f} s", closed ? ", solved in" : " in", seconds);
  if (!closed) text += fmt::format(", stopped by {}", name_of(stopped));
  if (!std::isfinite(best_score)) return text;
  text += fmt::format(", {} {:.4f}", score, best_score);
  if (valid_rows > 0) text += fmt::format(" on {}", counted(valid_rows, noun));
  if (valid_rows > 0 && best_epoch > 0) text += fmt::format(" (epoch {})", best_epoch);
  return text;
}

bool is_usable(const Summary& s) {
  return s.stopped != Stopped::interrupted || (s.valid_rows > 0 ? std::isfinite(s.best_score) : s.steps > 0);
}

nlohmann::json to_json(const Summary& s) {
  nlohmann::json json = fields_to_json(s);
  json.erase("seconds");
  return json;
}

Summary summary_from_json(const nlohmann::json& json) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const JsonReader read(json, "summary_from_json");
  Summary s;
  for (const auto& [key, field] : {std::pair{"rows", &s.rows},
                                   {"valid_rows", &s.valid_rows},
                                   {"steps", &s.steps},
                                   {"epochs", &s.epochs},
                                   {"best_epoch", &s.best_epoch}}) {
    if (read.has(key)) *field = read.count(key, 0, kMost);
  }
  if (read.has("best_score") && !json["best_score"].is_null()) s.best_score = read.number("best_score");
  if (read.has("jitter")) s.jitter = read.number("jitter");
  if (read.has("trained_by")) s.trained_by = read.text("trained_by");
  if (read.has("score")) s.score = read.text("score");
  if (read.has("stopped")) s.stopped = stopped_named(read.text("stopped"));
  if (read.has("notes")) s.notes = read.texts("notes");
  if (read.has("facts")) s.facts = read.texts("facts");
  return s;
}

}  // namespace slimbayes
