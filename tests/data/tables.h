#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

inline const double kNone = std::nan("");

inline Column numbers(std::string name, std::vector<double> values) {
  return {std::move(name), ColumnKind::numeric, std::move(values), {}};
}
inline Column categories(std::string name, std::vector<double> values, std::vector<std::string> levels) {
  return {std::move(name), ColumnKind::categorical, std::move(values), std::move(levels)};
}
inline Table table_of(std::vector<Column> columns) {
  auto rows = static_cast<int64_t>(columns.at(0).values.size());
  return {"t.csv", std::move(columns), rows};
}
inline std::vector<int64_t> all_rows(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Returns the message of the exception that the action throws, or "no error".
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

inline void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  should hold\n" << part;
}

}  // namespace slimbayes
