// The one writer of PNG images, by libpng's simplified interface, which reports errors without long jumps.
#include "slimbayes/data/images/png.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <png.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Writes the pixels [h, w] in this format of libpng; `colours` is nullptr for a format without a palette.
void write_png(const std::filesystem::path& path, const at::Tensor& pixels, png_uint_32 format,
               const std::vector<Colour>* colours) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(pixels.size(0));
  image.width = static_cast<png_uint_32>(pixels.size(1));
  image.format = format;
  if (colours != nullptr) image.colormap_entries = static_cast<png_uint_32>(colours->size());
  const void* map = colours == nullptr ? nullptr : colours->data();
  png_alloc_size_t size = 0;
  std::vector<std::byte> bytes;
  const auto write = [&](void* to) {
    if (png_image_write_to_memory(&image, to, &size, 0, pixels.const_data_ptr(), 0, map) == 0)
      throw std::runtime_error(
          fmt::format("{}: the image could not be written: {}", foreign_text(path.string()), image.message));
  };
  write(nullptr);  // asks for the size
  bytes.resize(size);
  write(bytes.data());
  bytes.resize(size);
  write_atomically(path, bytes);
}

/// Returns the colour with this hue in [0, 1), full saturation and this lightness in [0, 1].
Colour colour_of(double hue, double lightness) {
  const auto channel = [&](double shift) {
    const double k = std::fmod(shift + 12 * hue, 12.0), reach = std::min(lightness, 1 - lightness);
    const double value = lightness - reach * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<uint8_t>(std::lround(255 * value));
  };
  return {channel(0), channel(8), channel(4)};
}

}  // namespace

std::vector<Colour> class_colours(int64_t count) {
  constexpr double kGoldenAngle = 0.381966011250105;  // of a whole turn
  constexpr double kLightness[] = {0.45, 0.65, 0.3};
  std::vector<Colour> colours;
  for (int64_t i = 0; i < count; ++i)
    colours.push_back(colour_of(std::fmod(kGoldenAngle * static_cast<double>(i), 1.0), kLightness[i % 3]));
  return colours;
}

void write_class_map(const std::filesystem::path& path, const at::Tensor& classes,
                     const std::vector<Colour>& colours) {
  check_shape(classes, {-1, -1}, "write_class_map", "classes");
  const auto count = std::ssize(colours);
  check(count > 0 && count <= 256 && classes.ge(0).logical_and(classes.lt(count)).all().item<bool>(),
        "write_class_map", "numbers of classes, each with one of at most 256 colours", "others");
  write_png(path, classes.to(at::kByte).contiguous(), PNG_FORMAT_RGB_COLORMAP, &colours);
}

void write_grey_map(const std::filesystem::path& path, const at::Tensor& values, double white) {
  constexpr double kMost = 65535;
  check_shape(values, {-1, -1}, "write_grey_map", "values");
  if (!(white > 0)) refuse("write_grey_map", "a value above 0 for white", fmt::format("{}", white));
  const at::Tensor level = (values.to(at::kDouble) / white).clamp(0, 1).mul(kMost).round();
  // int32 to int16 keeps the low bits, which libpng reads as unsigned.
  write_png(path, level.to(at::kInt).to(at::kShort).contiguous(), PNG_FORMAT_LINEAR_Y, nullptr);
}

}  // namespace slimbayes
