#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace slimbayes {

/// What one example is: a row of a table, a window of rows of a time series, an image with one class, a text,
/// an image each of whose pixels has a class.
enum class InputKind : uint8_t { table, windows, images, text, segmentation };

/// Returns whether an example of this kind is an image.
constexpr bool are_images(InputKind kind) {
  return kind == InputKind::images || kind == InputKind::segmentation;
}

/// Returns the name of a kind in messages and listings, such as "windows".
constexpr std::string_view name_of(InputKind kind) {
  constexpr std::string_view kNames[] = {"table", "windows", "images", "text", "segmentation"};
  return kNames[static_cast<size_t>(kind)];
}

/// Returns the word for one example of this kind in messages: "row", "window" or "image". A text is called a
/// row, because it is a cell in a row of a table.
constexpr std::string_view noun_of(InputKind kind) {
  constexpr std::string_view kNouns[] = {"row", "window", "image", "row", "image"};
  return kNouns[static_cast<size_t>(kind)];
}

}  // namespace slimbayes
