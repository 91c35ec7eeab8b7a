// The JSON form of WindowEncoder, as stored in the model file. from_json checks every value, because a model
// file may come from anywhere.
#include <fmt/format.h>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/encoding/windows/calendar.h"
#include "slimbayes/encoding/windows/window_encoder.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

constexpr const char* kWindowJson = "WindowEncoder::from_json";

std::vector<double> periods_from(const JsonReader& read) {
  const nlohmann::json& list = read.value("periods");
  check(list.is_array(), kWindowJson, "a list of periods", "another value", "the model file is damaged");
  std::vector<double> periods;
  for (const nlohmann::json& period : list) periods.push_back(period.is_number() ? period.get<double>() : 0);
  check(are_calendar_periods(periods), kWindowJson, "periods of a day, a week or a year, ascending", "others",
        "the model file is damaged");
  return periods;
}

}  // namespace

nlohmann::json WindowEncoder::to_json() const {
  nlohmann::json keys = nlohmann::json::object();
  for (const auto& [name, kind] : keys_) keys[name] = kind_name(kind);
  nlohmann::json whole = {{"kind", "windows"},
                          {"window", options_.window},
                          {"horizon", options_.horizon},
                          {"time", options_.time},
                          {"group", options_.group},
                          {"target", target_},
                          {"rows", rows_.to_json()},
                          {"periods", periods_},
                          {"task", slimbayes::to_json(schema_.task)},
                          {"keys", keys},
                          {"step", step_},
                          {"fill_gaps", options_.fill_gaps}};
  if (offsets_) whole["offsets"] = *offsets_;
  return whole;
}

WindowEncoder WindowEncoder::from_json(const nlohmann::json& json) {
  const JsonReader read(json, kWindowJson);
  WindowEncoder encoder;
  encoder.options_ = {read.count("window", 1, kLongestWindow), read.count("horizon", 1, kLongestWindow),
                      read.texts("time"), read.texts("group")};
  check(read.value("fill_gaps").is_boolean(), kWindowJson, "whether gaps are filled", "another value",
        "the model file is damaged");
  encoder.options_.fill_gaps = read.value("fill_gaps").get<bool>();
  encoder.target_ = read.text("target");
  encoder.step_ = read.number("step");
  constexpr double kLongestStep = 1e12;  // seconds, or the time column's own unit
  if (!(encoder.step_ > 0 && encoder.step_ <= kLongestStep))
    refuse(kWindowJson, "a positive step, up to 1e12", fmt::format("{}", encoder.step_),
           "the model file is damaged");
  const nlohmann::json& keys = read.value("keys");
  check(keys.is_object(), kWindowJson, "the kinds of the columns of time and group", "another value",
        "the model file is damaged");
  const JsonReader kinds(keys, kWindowJson);
  for (const auto* names : {&encoder.options_.time, &encoder.options_.group}) {
    for (const std::string& name : *names) encoder.keys_[name] = kind_named(kinds.text(name.c_str()));
  }
  if (read.has("offsets")) {
    check(read.value("offsets").is_boolean(), kWindowJson, "whether the times give offsets", "another value",
          "the model file is damaged");
    encoder.offsets_ = read.value("offsets").get<bool>();
  }
  encoder.rows_ = Encoder::from_json(read.value("rows"));
  check(encoder.rows_.target_name().empty() && encoder.rows_.domain().empty(), kWindowJson,
        "inputs without a target and a domain of their own", "others", "the model file is damaged");
  encoder.periods_ = periods_from(read);
  encoder.complete_schema();
  encoder.schema_.task = task_from_json(read.value("task"), kWindowJson);
  return encoder;
}

}  // namespace slimbayes
