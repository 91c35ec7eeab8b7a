#include "slimbayes/storage/dtype.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace slimbayes {
namespace {

struct Row {
  StoredType type;
  std::string_view name;
  int64_t size;
};

constexpr std::array<Row, 6> kRows{{{StoredType::f64, "F64", 8},
                                    {StoredType::f32, "F32", 4},
                                    {StoredType::i64, "I64", 8},
                                    {StoredType::i32, "I32", 4},
                                    {StoredType::u8, "U8", 1},
                                    {StoredType::boolean, "BOOL", 1}}};

const Row& row_of(StoredType type) {
  const auto* row = std::ranges::find(kRows, type, &Row::type);
  if (row == kRows.end()) throw std::invalid_argument("[element_size] expected a value of StoredType");
  return *row;
}

}  // namespace

int64_t element_size(StoredType type) { return row_of(type).size; }

std::string_view dtype_name(StoredType type) { return row_of(type).name; }

std::optional<StoredType> find_dtype(std::string_view name) {
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  return row == kRows.end() ? std::nullopt : std::optional(row->type);
}

std::optional<int64_t> byte_count(const std::vector<int64_t>& shape, StoredType type) {
  int64_t bytes = element_size(type);
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    if (dimension == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(bytes, dimension, &bytes)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : bytes;
}

bool valid_elements(StoredType type, std::span<const std::byte> bytes) {
  return type != StoredType::boolean ||
         std::ranges::all_of(bytes, [](std::byte b) { return std::to_integer<int>(b) < 2; });
}

}  // namespace slimbayes
