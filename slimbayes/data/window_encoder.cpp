// Encodes windows of a time series. Rows are encoded once, in the order of series and time. A window is a
// range of rows of that matrix; its rows are gathered when its batch is requested.
#include "slimbayes/data/window_encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/data/column_notes.h"
#include "slimbayes/data/gaps.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/target.h"

namespace slimbayes {

namespace {

constexpr const char* kWindowEncoder = "windows";
constexpr double kWeek = 7 * kDay, kYear = 365.2425 * kDay;

/// Gives batches of windows, from the encoded rows and the place where each window ends.
class WindowSource : public Source {
 public:
  WindowSource(at::Tensor rows, at::Tensor last, int64_t window, at::Tensor target)
      : rows_(std::move(rows)),
        last_(std::move(last)),
        back_(at::arange(1 - window, 1, at::kLong)),
        target_(std::move(target)) {}

  int64_t size() const override { return last_.size(0); }

  Batch rows(const at::Tensor& indices, const RowContext&) const override {
    const at::Tensor last = last_.index_select(0, indices);
    const at::Tensor places = (last.unsqueeze(1) + back_).reshape({-1});
    Batch batch;
    batch.inputs = {rows_.index_select(0, places).view({last.size(0), back_.size(0), rows_.size(1)})};
    if (target_.defined()) batch.target = target_.index_select(0, indices);
    return batch;
  }

 private:
  at::Tensor rows_;    // [n, d] float32, in the order of Windows::order
  at::Tensor last_;    // [m] row of each window's end
  at::Tensor back_;    // [window] 1 - window, ..., 0
  at::Tensor target_;  // [m] float64
};

std::vector<int64_t> rows_of(const Windows& windows, const std::vector<int64_t>& places) {
  std::vector<int64_t> rows;
  for (int64_t place : places) rows.push_back(windows.order[static_cast<size_t>(place)]);
  return rows;
}

/// Returns the places of all rows that at least one of these windows sees, ascending.
std::vector<int64_t> seen_places(const Windows& windows, const std::vector<int64_t>& chosen, int64_t window) {
  std::vector<bool> seen(windows.order.size());
  for (int64_t i : chosen) {
    const int64_t last = windows.last[static_cast<size_t>(i)];
    for (int64_t place = last - window + 1; place <= last; ++place) seen[static_cast<size_t>(place)] = true;
  }
  std::vector<int64_t> places;
  for (size_t place = 0; place < seen.size(); ++place) {
    if (seen[place]) places.push_back(static_cast<int64_t>(place));
  }
  return places;
}

const char* period_name(double period) {
  return period == kDay ? "hour of the day" : period == kWeek ? "day of the week" : "day of the year";
}

/// The features of a row: those of the target's own column hold its past.
std::vector<std::string> row_features(const Encoder& rows, const std::string& target) {
  std::vector<std::string> names;
  for (Encoder::Feature column : rows.columns()) {
    if (column.name == target) column.name += " (past)";
    for (std::string& name : feature_names(column)) names.push_back(std::move(name));
  }
  return names;
}

/// Sets the indicators of missing cells: where the last known value was carried forward, the cell is missing
/// nevertheless. `x` [n, d] holds the encoded inputs of the table's rows.
void mark_missing(const at::Tensor& x, const Encoder& rows, const Table& table) {
  int64_t offset = 0;
  for (const Encoder::Feature& feature : rows.columns()) {
    offset += feature.width();
    if (!feature.indicator) continue;
    const std::vector<double>& cells = table.find(feature.name)->values;
    x.select(1, offset - 1).copy_(at::tensor(cells, at::kDouble).isnan());
  }
}

/// Returns how many of these rows of the table fill_gaps inserted.
int64_t inserted_among(const Windows& windows, const std::vector<int64_t>& places) {
  return std::ranges::count_if(places, [&](int64_t place) { return windows.is_inserted(place); });
}

void check_past(const Table& table, const std::string& target) {
  check(table.find(target) != nullptr, kWindowEncoder,
        fmt::format("the column {}, whose past is an input", in_quotes(target)), "a table without it",
        nearest_hint(target, table.names()));
}

}  // namespace

WindowEncoder WindowEncoder::fit(const Table& table, const Windows& windows, const WindowOptions& options,
                                 const std::vector<int64_t>& train, const EncoderOptions& given) {
  check(!train.empty(), "WindowEncoder::fit", "at least one training window", "none");
  check(windows.options == options, "WindowEncoder::fit", "windows found with the options of the fit",
        "others");
  WindowEncoder encoder;
  encoder.options_ = options;
  encoder.target_ = given.target;
  std::vector<int64_t> targets;
  for (int64_t i : train) targets.push_back(windows.target[static_cast<size_t>(i)]);
  Task task = fit_task(table, rows_of(windows, targets), given.target, given.likelihood, given.target_scale);
  check(task.kind != TaskKind::events, "WindowEncoder::fit", "a target a row", "events");

  for (const auto* names : {&options.time, &options.group}) {
    for (const std::string& name : *names) {
      const Column* column = table.find(name);
      check(column != nullptr, kWindowEncoder, fmt::format("a column {}", in_quotes(name)),
            "a table without it", nearest_hint(name, table.names()));
      encoder.keys_[name] = column->kind;  // NOLINT(clang-analyzer-core.NullDereference): check() has thrown
      if (names == &options.time && column->kind == ColumnKind::datetime) encoder.offsets_ = column->offsets;
    }
  }

  EncoderOptions inputs = given;
  inputs.likelihood.reset();
  inputs.target = "";
  for (const std::string& name : options.time) inputs.ignore.push_back(name);
  const std::vector<int64_t> seen = seen_places(windows, train, options.window);
  if (options.fill_gaps) inputs.carried = inserted_among(windows, seen);
  encoder.rows_ = Encoder::fit_inputs(table, rows_of(windows, seen), inputs);
  encoder.schema_.task = std::move(task);
  encoder.schema_.features = row_features(encoder.rows_, given.target);
  const auto time_of = [&](int64_t place) { return windows.time[static_cast<size_t>(place)]; };
  const auto [first, last] = std::ranges::minmax(seen, {}, time_of);  // over all series
  const double span = time_of(last) - time_of(first);
  encoder.step_ = windows.step;
  for (double period : {kDay, kWeek, kYear}) {
    if (!windows.calendar || windows.step > period / 4 || span < period) continue;
    encoder.periods_.push_back(period);
    for (const char* wave : {"sine", "cosine"})
      encoder.schema_.features.push_back(fmt::format("{} of the {}", wave, period_name(period)));
  }
  encoder.schema_.input.sizes = {options.window, std::ssize(encoder.schema_.features)};
  return encoder;
}

Dataset WindowEncoder::dataset(const Table& table, const Windows& windows, const std::vector<int64_t>& chosen,
                               bool with_target, std::vector<BadRow>* bad) const {
  check_past(table, target_);
  check(windows.options == options_ && windows.step == step_, kWindowEncoder,
        fmt::format("windows of {} rows in steps of {:g}, as in training", options_.window, step_), "others",
        "give the model the table: it finds its windows");
  std::vector<BadRow> bad_rows;
  const at::Tensor index = at::tensor(windows.order, at::kLong);
  at::Tensor inputs =
      rows_.inputs(options_.fill_gaps ? carried(table, windows, input_names()) : table, &bad_rows);
  if (options_.fill_gaps) mark_missing(inputs, rows_, table);
  std::vector<at::Tensor> columns = {inputs.index_select(0, index)};
  const at::Tensor time = at::tensor(windows.time, at::kDouble);
  for (double period : periods_) {
    const at::Tensor angle = (time * (2 * std::numbers::pi / period)).unsqueeze(1);
    columns.push_back(at::sin(angle).to(at::kFloat));
    columns.push_back(at::cos(angle).to(at::kFloat));
  }
  std::vector<int64_t> last;
  for (int64_t i : chosen) last.push_back(windows.last[static_cast<size_t>(i)]);
  if (!bad_rows.empty()) {
    std::vector<const std::string*> reason(windows.order.size());
    std::map<int64_t, const std::string*> of_row;
    for (const BadRow& row : bad_rows) of_row[row.row] = &row.reason;
    for (size_t place = 0; place < reason.size(); ++place) {
      const auto found = of_row.find(windows.order[place]);
      if (found != of_row.end()) reason[place] = found->second;
    }
    for (size_t k = 0; k < last.size(); ++k) {
      for (int64_t place = last[k] - options_.window + 1; place <= last[k]; ++place) {
        if (reason[static_cast<size_t>(place)] == nullptr) continue;
        const int64_t row = windows.order[static_cast<size_t>(place)];
        if (bad == nullptr) throw_bad_cell(table, row, *reason[static_cast<size_t>(place)]);
        bad->push_back({static_cast<int64_t>(k), fmt::format("in data row {}: {}", row_number(table, row),
                                                             *reason[static_cast<size_t>(place)])});
        break;
      }
    }
  }
  at::Tensor target;
  if (with_target) {
    std::vector<int64_t> targets;
    for (int64_t i : chosen) {
      const int64_t place = windows.target[static_cast<size_t>(i)];
      check(place >= 0, "WindowEncoder::dataset", "windows whose target lies in the table",
            "one beyond its end");
      targets.push_back(place);
    }
    const Table rows = take_rows(table, rows_of(windows, targets));
    target = target_values(rows, target_, schema_.task);
  }
  return {schema_, std::make_shared<WindowSource>(at::cat(columns, 1), at::tensor(last, at::kLong),
                                                  options_.window, std::move(target))};
}

std::vector<std::string> WindowEncoder::input_names() const {
  std::vector<std::string> names;
  for (const Encoder::Feature& feature : rows_.columns()) names.push_back(feature.name);
  return names;
}

std::vector<std::string> WindowEncoder::notes_for(const Table& table, const Windows& windows) const {
  check_past(table, target_);
  // What is carried forward is not imputed with the training mean, and so is not noted as such.
  std::vector<std::string> notes =
      rows_.notes_for(options_.fill_gaps ? carried(table, windows, input_names()) : table);
  const Column* time = offsets_ && options_.time.size() == 1 ? table.find(options_.time[0]) : nullptr;
  if (time != nullptr) notes.push_back(offset_note(*time, offsets_));
  std::erase(notes, "");
  return notes;
}

Reading WindowEncoder::reading() const {
  Reading reading = rows_.reading(false);
  for (const auto& [name, kind] : keys_) {
    if (std::ranges::find(reading.names, name) == reading.names.end()) reading.kinds[name] = kind;
  }
  return reading;
}

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
  constexpr const char* kWhere = "WindowEncoder::from_json";
  const JsonReader read(json, kWhere);
  WindowEncoder encoder;
  encoder.options_ = {read.count("window", 1, kLongestWindow), read.count("horizon", 1, kLongestWindow),
                      read.texts("time"), read.texts("group")};
  if (read.has("fill_gaps")) {
    check(read.value("fill_gaps").is_boolean(), kWhere, "whether gaps are filled", "another value",
          "the model file is damaged");
    encoder.options_.fill_gaps = read.value("fill_gaps").get<bool>();
  }
  encoder.target_ = read.text("target");
  encoder.step_ = read.number("step");
  constexpr double kLongestStep = 1e12;  // seconds, or the time column's own unit
  check(encoder.step_ > 0 && encoder.step_ <= kLongestStep, kWhere, "a positive step, up to 1e12",
        fmt::format("{}", encoder.step_), "the model file is damaged");
  const nlohmann::json& keys = read.value("keys");
  check(keys.is_object(), kWhere, "the kinds of the columns of time and group", "another value",
        "the model file is damaged");
  const JsonReader kinds(keys, kWhere);
  for (const auto* names : {&encoder.options_.time, &encoder.options_.group}) {
    for (const std::string& name : *names) encoder.keys_[name] = kind_named(kinds.text(name.c_str()));
  }
  if (read.has("offsets")) {
    check(read.value("offsets").is_boolean(), kWhere, "whether the times give offsets", "another value",
          "the model file is damaged");
    encoder.offsets_ = read.value("offsets").get<bool>();
  }
  encoder.rows_ = Encoder::from_json(read.value("rows"));
  check(encoder.rows_.target_name().empty() && encoder.rows_.domain().empty(), kWhere,
        "inputs without a target and a domain of their own", "others", "the model file is damaged");
  encoder.schema_.features = row_features(encoder.rows_, encoder.target_);
  const nlohmann::json& periods = read.value("periods");
  check(periods.is_array(), kWhere, "a list of periods", "another value", "the model file is damaged");
  double before = 0;
  for (const nlohmann::json& period : periods) {
    const double value = period.is_number() ? period.get<double>() : 0;
    check(value > before && (value == kDay || value == kWeek || value == kYear), kWhere,
          "periods of a day, a week or a year, ascending", "others", "the model file is damaged");
    before = value;
    encoder.periods_.push_back(period.get<double>());
    for (const char* wave : {"sine", "cosine"})
      encoder.schema_.features.push_back(
          fmt::format("{} of the {}", wave, period_name(encoder.periods_.back())));
  }
  encoder.schema_.input.sizes = {encoder.options_.window, std::ssize(encoder.schema_.features)};
  encoder.schema_.task = task_from_json(read.value("task"), kWhere);
  return encoder;
}

}  // namespace slimbayes
