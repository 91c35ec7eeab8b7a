#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "slimbayes/encoding/windows/window_encoder.h"
#include "slimbayes/encoding/windows/window_table.h"
#include "slimbayes/encoding/windows/windows.h"
#include "tests/data/tables.h"

namespace slimbayes {

inline constexpr double kHour = 3600;

/// Returns hourly rows of one series: x = 0, 1, 2, ... and y = 10 x.
inline Table hourly(int64_t rows) {
  std::vector<double> time, x, y;
  for (int64_t i = 0; i < rows; ++i) {
    time.push_back(static_cast<double>(i) * kHour);
    x.push_back(static_cast<double>(i));
    y.push_back(10 * static_cast<double>(i));
  }
  Table table = table_of({numbers("t", time), numbers("x", x), numbers("y", y)});
  table.columns[0].kind = ColumnKind::datetime;
  return table;
}

inline WindowOptions windows_of(int64_t window, int64_t horizon = 1) { return {window, horizon, {"t"}, {}}; }

inline EncoderOptions encoding() {
  EncoderOptions options;
  options.target = "y";
  options.scale = "standard";
  return options;
}

inline std::vector<int64_t> all_of(const Windows& windows) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < std::ssize(windows.last); ++i)
    if (windows.target[static_cast<size_t>(i)] >= 0) all.push_back(i);
  return all;
}

/// Returns these windows of the table, with copies of both.
inline WindowTable window_table_of(const Table& table, const Windows& windows, std::vector<int64_t> chosen) {
  return {std::make_shared<const Table>(table), std::make_shared<const Windows>(windows), std::move(chosen)};
}

/// Returns the inputs of window k: those of its rows, row after row.
inline std::vector<float> inputs_of_window(const WindowEncoder& encoder, const WindowRows& encoded,
                                           size_t k) {
  const auto d = std::ssize(encoder.schema().features), window = encoder.options().window;
  const auto end = encoded.rows.begin() + (encoded.last[k] + 1) * d;
  return {end - window * d, end};
}

}  // namespace slimbayes
