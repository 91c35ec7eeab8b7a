#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/encoding/encoder.h"
#include "tests/data/tables.h"

namespace slimbayes {

inline Encoder fitted(const Table& table, EncoderOptions options = {"y"}) {
  return Encoder::fit(table, all_rows(table), options);
}

/// Returns the encoded inputs [n, d], row after row.
inline std::vector<float> inputs_of(const Encoder& encoder, const Table& table,
                                    std::vector<BadRow>* bad = nullptr) {
  std::vector<float> x(static_cast<size_t>(table.rows) * encoder.schema().features.size());
  encoder.inputs(table, x, bad);
  return x;
}

/// Returns the columns `begin` to `end` - 1 of x [n, d], row after row.
inline std::vector<float> columns_of(const std::vector<float>& x, size_t d, size_t begin, size_t end) {
  std::vector<float> cut;
  for (size_t i = 0; i < x.size(); ++i)
    if (i % d >= begin && i % d < end) cut.push_back(x[i]);
  return cut;
}

/// Returns whether these are the same numbers once rounded to float32.
inline bool equal(const std::vector<float>& x, const std::vector<double>& values) {
  return std::ranges::equal(x, values, [](float a, double b) { return a == static_cast<float>(b); });
}

inline bool has_note(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const auto& n) { return n.find(part) != std::string::npos; });
}

}  // namespace slimbayes
