#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/rows/encoder.h"
#include "tests/data/tables.h"

namespace slimbayes {

inline Encoder fitted(const Table& table, EncoderOptions options = {"y"}) {
  return Encoder::fit(table, all_rows(table), options);
}

inline at::Tensor column(const at::Tensor& x, int64_t c) { return x.select(1, c); }

inline bool equal(const at::Tensor& x, std::vector<double> values) {
  return at::equal(x, at::tensor(values, at::kFloat).view(x.sizes()));
}

inline bool has_note(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const auto& n) { return n.find(part) != std::string::npos; });
}

}  // namespace slimbayes
