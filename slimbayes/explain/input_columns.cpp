#include "slimbayes/explain/input_columns.h"

#include <algorithm>

namespace slimbayes {

std::vector<InputColumn> input_columns(const InputEncoder& encoder, const Table& cells) {
  std::vector<InputColumn> columns;
  const auto* rows = std::get_if<Encoder>(&encoder);
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) rows = &windows->rows();
  if (rows == nullptr) return columns;
  for (const Encoder::Feature& feature : rows->columns()) {
    const Column* const found = cells.find(feature.name);
    if (feature.width() > 0 && found != nullptr) columns.push_back({&feature, found});
  }
  return columns;
}

std::vector<int64_t> spaced(int64_t n, int64_t most) {
  std::vector<int64_t> out;
  const int64_t kept = std::min(n, most);
  for (int64_t i = 0; i < kept; ++i) out.push_back(i * n / kept);
  return out;
}

}  // namespace slimbayes
