#include "slimbayes/storage/error.h"

#include <fmt/format.h>

namespace slimbayes {
namespace {

std::string place(const std::string& file, int64_t line, int64_t column) {
  if (line <= 0) return file;
  return column <= 0 ? fmt::format("{}:{}", file, line) : fmt::format("{}:{}:{}", file, line, column);
}

}  // namespace

DataError::DataError(const std::string& file, const std::string& message, int64_t line, int64_t column)
    : std::runtime_error(place(file, line, column) + ": " + message) {}

}  // namespace slimbayes
