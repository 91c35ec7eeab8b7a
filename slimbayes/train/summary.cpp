#include "slimbayes/train/summary.h"

#include <fmt/format.h>

#include <cmath>

namespace slimbayes {

std::string Summary::brief() const {
  std::string text = fmt::format("{} rows, {} steps", rows, steps);
  if (seconds > 0) text += fmt::format(" in {:.1f} s", seconds);
  text += ", stopped by " + stopped;
  if (!std::isfinite(best_score)) return text;
  text += fmt::format(", best {} {:.4f}", score, best_score);
  if (valid_rows > 0) text += fmt::format(" on {} rows (epoch {})", valid_rows, best_epoch);
  return text;
}

nlohmann::json to_json(const Summary& s) {
  return {{"rows", s.rows},       {"valid_rows", s.valid_rows}, {"steps", s.steps},
          {"epochs", s.epochs},   {"best_epoch", s.best_epoch}, {"best_score", s.best_score},
          {"stopped", s.stopped}, {"jitter", s.jitter},         {"notes", s.notes},
          {"score", s.score}};
}

Summary summary_from_json(const nlohmann::json& json) {
  Summary s;
  s.rows = json.value("rows", s.rows);
  s.valid_rows = json.value("valid_rows", s.valid_rows);
  s.steps = json.value("steps", s.steps);
  s.epochs = json.value("epochs", s.epochs);
  s.best_epoch = json.value("best_epoch", s.best_epoch);
  if (json.contains("best_score") && !json["best_score"].is_null())
    s.best_score = json["best_score"].get<double>();
  s.score = json.value("score", s.score);
  s.stopped = json.value("stopped", s.stopped);
  s.jitter = json.value("jitter", s.jitter);
  s.notes = json.value("notes", s.notes);
  return s;
}

}  // namespace slimbayes
