#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace slimbayes {

using Colour = std::array<uint8_t, 3>;  // red, green, blue

/// Returns a colour for each of `count` classes. Neighbours differ much in hue: each turns the hue by the
/// golden angle, and the lightness alternates.
std::vector<Colour> class_colours(int64_t count);

/// Writes a map of classes as a PNG image whose pixels are indices into a palette: the value of a pixel is
/// the number of its class, and viewers show the colour. classes [h, w] of numbers from 0 to below the number
/// of colours, of which there are at most 256. Replaces the file atomically.
void write_class_map(const std::filesystem::path& path, const at::Tensor& classes,
                     const std::vector<Colour>& colours);

/// Writes numbers as a grey PNG image of 16 bits: 0 is black, `white` and above are 65535. values [h, w].
/// Replaces the file atomically.
void write_grey_map(const std::filesystem::path& path, const at::Tensor& values, double white);

}  // namespace slimbayes
