#pragma once

#include <cstdint>
#include <string_view>

namespace slimbayes {

/// What one example is: a row of a table, a window of rows of a time series, an image, a text.
enum class InputKind : uint8_t { table, windows, images, text };

/// Returns the name of a kind in messages and listings, such as "windows".
constexpr std::string_view name_of(InputKind kind) {
  constexpr std::string_view kNames[] = {"table", "windows", "images", "text"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace slimbayes
