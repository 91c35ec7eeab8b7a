#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/serve/model.h"
#include "tests/serve/serve_sample.h"

namespace slimbayes {

using nlohmann::json;

/// A fit whose model is served.
struct Case {
  std::string name, method;
  json options;
  std::string calibrate = "none";
  json fit = json::object();  // further FitOptions
  bool repeats = false;       // rows of the same inputs, which are groups for a calibration
};

inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

inline json merged_json(json options, const json& more) {
  options.update(more);
  return options;
}

/// Options of a network that trains in a moment.
inline const json kSmall = {{"steps", 40}, {"hidden", 16}};
inline json small(const json& more) { return merged_json(kSmall, more); }

/// Its request, for served_table().
inline FitOptions request_of(const Case& one) {
  json all = {{"target", "y"}, {"categorical", {"smoker"}}};
  all.update(one.fit);
  all["ignore"] = json::array();
  for (const char* other : {"y", "z", "grade", "pass", "events"})
    if (all["target"] != other) all["ignore"].push_back(other);
  FitOptions fit = options_from_json<FitOptions>(all, "test");
  fit.method = one.method;
  fit.options = one.options;
  fit.calibrate = one.calibrate;
  if (one.calibrate != "none") fit.calibration_fraction = 0.3;
  return fit;
}

/// The model as it is served from its file.
inline serve::Model served(const Model& model) {
  return serve::Model::open(to_bytes(model.to_file()), "served");
}

/// The numbers of a row as serve::Model takes them: a category's place in the levels of training.
inline std::vector<double> row_of(const Table& table, const serve::Model& model, int64_t i) {
  std::vector<double> row;
  for (const serve::ColumnInfo& info : model.columns()) {
    const Column& column = *table.find(info.name);
    double cell = column.values[static_cast<size_t>(i)];
    if (!info.levels.empty() && !std::isnan(cell)) {
      const auto found = std::ranges::find(info.levels, column.levels[static_cast<size_t>(cell)]);
      cell = static_cast<double>(found - info.levels.begin());
    }
    row.push_back(cell);
  }
  return row;
}

/// The cells of a row as a CSV file has them.
inline std::vector<std::string> texts_of(const Table& table, const serve::Model& model, int64_t i) {
  std::vector<std::string> cells;
  for (const serve::ColumnInfo& info : model.columns()) {
    const Column& column = *table.find(info.name);
    const double cell = column.values[static_cast<size_t>(i)];
    cells.push_back(std::isnan(cell) ? " NA " : cell_text(column, cell));
  }
  return cells;
}

}  // namespace slimbayes
