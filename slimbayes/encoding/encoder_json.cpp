// The JSON form of Encoder, as stored in the model file. nlohmann-json writes each double with the fewest
// digits that give the same double again. from_json checks every value, because a model file may come from
// anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

const char* name_of(Encoder::Dropped dropped) {
  using enum Encoder::Dropped;
  switch (dropped) {
    case no:
      break;
    case constant:
      return "constant";
    case constant_once_rounded:
      return "constant once rounded";
    case no_value:
      return "no value";
    case free_text:
      return "identifier or free text";
    case unread_dates:
      return "unread dates";
    case row_labels:
      return "row labels";
  }
  return "";
}

namespace {

using nlohmann::json;

double finite_from(const json& value, bool positive) {
  double x = value.get<double>();
  if (!(std::isfinite(x) && (!positive || x > 0)))
    refuse("Encoder::from_json", positive ? "a positive scale" : "a finite number", fmt::format("{}", x),
           "the model file is damaged");
  return x;
}

json feature_json(const Encoder::Feature& f) {
  json column = {{"name", f.name},     {"kind", kind_name(f.kind)}, {"scaled", f.scaled},
                 {"shift", f.shift},   {"scale", f.scale},          {"fill", f.fill},
                 {"levels", f.levels}, {"other", f.other},          {"indicator", f.indicator}};
  if (f.range) column["range"] = {{"low", f.range->low}, {"high", f.range->high}, {"sd", f.range->sd}};
  if (f.dropped != Encoder::Dropped::no) column["dropped"] = name_of(f.dropped);
  if (f.offsets) column["offsets"] = *f.offsets;
  return column;
}

Encoder::Range range_from(const json& j) {
  Encoder::Range range{finite_from(j.at("low"), false), finite_from(j.at("high"), false),
                       finite_from(j.at("sd"), false)};
  if (!(range.low <= range.high && range.sd >= 0))
    refuse("Encoder::from_json", "a range from low to high",
           fmt::format("{} to {}, sd {}", range.low, range.high, range.sd), "the model file is damaged");
  return range;
}

Encoder::Dropped dropped_named(const std::string& name) {
  using enum Encoder::Dropped;
  for (const auto reason :
       {no, constant, constant_once_rounded, no_value, free_text, unread_dates, row_labels})
    if (name_of(reason) == name) return reason;
  refuse("Encoder::from_json", "a reason why a column is no input", in_quotes(name.substr(0, 40)),
         "the model file is damaged, or of another version");
}

Encoder::Feature feature_from(const json& j) {
  Encoder::Feature f;
  f.name = j.at("name").get<std::string>();
  f.kind = kind_named(j.at("kind").get<std::string>());
  f.scaled = j.at("scaled").get<bool>();
  f.shift = finite_from(j.at("shift"), false);
  f.scale = finite_from(j.at("scale"), true);
  f.fill = finite_from(j.at("fill"), false);
  f.levels = j.at("levels").get<std::vector<std::string>>();
  f.other = j.at("other").get<bool>();
  f.indicator = j.at("indicator").get<bool>();
  if (j.contains("range")) f.range = range_from(j.at("range"));
  f.dropped = dropped_named(j.value("dropped", ""));
  if (j.contains("offsets")) f.offsets = j.at("offsets").get<bool>();
  bool categorical = f.kind == ColumnKind::categorical;
  bool sane = categorical ? !f.scaled : f.levels.empty() && !f.other;
  if (!sane || !std::is_sorted(f.levels.begin(), f.levels.end()))
    refuse("Encoder::from_json", "levels, sorted, of a categorical column alone",
           foreign_text(f.name.substr(0, 40)), "the model file is damaged");
  return f;
}

void check_task(const Task& task) {
  if (task_of(task.likelihood) != task.kind)
    refuse("Encoder::from_json", "a task that its likelihood serves", name_of(task.kind),
           "a newer version may read this model");
  size_t classes = task.levels.size();
  bool sane = task.kind == TaskKind::classification ? classes >= 2 : classes == 0;
  int64_t outputs = task.likelihood == LikelihoodKind::softmax ? static_cast<int64_t>(classes) : 1;
  if (!(sane && task.outputs == outputs && (task.likelihood != LikelihoodKind::bernoulli || classes == 2)))
    refuse("Encoder::from_json", "the names of the classes, and an output each of a softmax",
           fmt::format("{} and {}", classes, task.outputs), "the model file is damaged");
}

Encoder checked(Encoder encoder) {
  check(!encoder.schema().features.empty(), "Encoder::from_json", "at least one feature", "none",
        "the model file is damaged");
  return encoder;
}

}  // namespace

nlohmann::json Encoder::to_json() const {
  json columns = json::array();
  for (const Feature& feature : features_) columns.push_back(feature_json(feature));
  const Task& task = schema_.task;
  json whole = {{"target", options_.target}, {"scale", options_.scale},
                {"ignore", options_.ignore}, {"task", name_of(task.kind)},
                {"outputs", task.outputs},   {"y_shift", task.y_shift},
                {"y_scale", task.y_scale},   {"columns", columns},
                {"notes", notes_},           {"likelihood", name_of(task.likelihood)},
                {"levels", task.levels}};
  if (task.encoded_sd != 1) whole["encoded_sd"] = task.encoded_sd;
  if (task.kind == TaskKind::regression) whole["low"] = task.low;
  if (task.bounds) whole["bounds"] = bounds_json(task);
  if (!options_.names.empty()) whole["names"] = options_.names;
  if (target_kind_) whole["target_kind"] = kind_name(*target_kind_);
  if (options_.scale_on != "train") whole["scale_on"] = options_.scale_on;
  return whole;
}

Encoder Encoder::from_json(const nlohmann::json& json) try {
  Encoder encoder;
  encoder.options_.target = json.at("target").get<std::string>();
  encoder.options_.scale = json.at("scale").get<std::string>();
  encoder.options_.ignore = json.at("ignore").get<std::vector<std::string>>();
  encoder.options_.scale_on = json.value("scale_on", "train");
  encoder.options_.names = json.value("names", std::vector<std::string>{});
  if (json.contains("target_kind"))
    encoder.target_kind_ = kind_named(json.at("target_kind").get<std::string>());
  Task& task = encoder.schema_.task;
  task.kind = task_named(json.at("task").get<std::string>());
  task.outputs = JsonReader(json, "Encoder::from_json").count("outputs", 1, int64_t{1} << 24);
  task.likelihood = likelihood_named(json.at("likelihood").get<std::string>());
  task.levels = json.at("levels").get<std::vector<std::string>>();
  check_task(task);
  task.y_shift = finite_from(json.at("y_shift"), false);
  task.y_scale = finite_from(json.at("y_scale"), true);
  if (json.contains("encoded_sd")) task.encoded_sd = finite_from(json.at("encoded_sd"), true);
  if (task.kind == TaskKind::regression) task.low = finite_from(json.at("low"), false);
  if (json.contains("bounds")) read_bounds(json.at("bounds"), "Encoder::from_json", task);
  check_stored(task, "Encoder::from_json");
  encoder.notes_ = json.at("notes").get<std::vector<std::string>>();
  for (const auto& column : json.at("columns")) {
    encoder.features_.push_back(feature_from(column));
    for (std::string& name : feature_names(encoder.features_.back())) {
      encoder.schema_.features.push_back(std::move(name));
    }
  }
  return checked(std::move(encoder));
} catch (const nlohmann::json::exception&) {
  throw std::invalid_argument(
      "[Encoder::from_json] expected an encoder, each of its facts with its own type; received an absent one "
      "or another type; the model file is damaged");
}

}  // namespace slimbayes
