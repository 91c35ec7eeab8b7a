#include "slimbayes/data/images/png.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "slimbayes/core/random.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

class Png : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  /// Reads the file in this format of libpng. Returns its bytes and the palette, if it has one.
  std::vector<uint8_t> read(png_uint_32 format, std::vector<uint8_t>* colours = nullptr) const {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, path_.c_str()), 0) << image.message;
    image.format = format;
    std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
    if (colours != nullptr) colours->resize(PNG_IMAGE_COLORMAP_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, colours ? colours->data() : nullptr),
              0);
    EXPECT_EQ(image.width, 3u);
    return pixels;
  }

  fs::path path_ = fs::temp_directory_path() / ("png-" + std::to_string(::getpid()) + ".png");
};

TEST_F(Png, AClassMapHoldsTheNumbersOfTheClasses) {
  const std::vector<Colour> colours = class_colours(11);
  EXPECT_EQ(std::set<Colour>(colours.begin(), colours.end()).size(), 11u);
  write_class_map(path_, at::tensor({0, 3, 10, 10, 1, 0}, at::kLong).view({2, 3}), colours);
  const std::vector<uint8_t> rgb = read(PNG_FORMAT_RGB);
  for (const auto& [pixel, number] : {std::pair{0, 0}, {1, 3}, {2, 10}, {3, 10}, {4, 1}, {5, 0}})
    for (int c = 0; c < 3; ++c)
      EXPECT_EQ(rgb[static_cast<size_t>(3 * pixel + c)],
                colours[static_cast<size_t>(number)][static_cast<size_t>(c)]);
  expect_has(error_of([&] { write_class_map(path_, at::full({1, 1}, 11), colours); }), "numbers of classes");
}

TEST_F(Png, AGreyMapKeepsSixteenBits) {
  write_grey_map(path_, at::tensor({0.0, 0.5, 1.0, 2.0, 9.0, 1e-4}, at::kDouble).view({2, 3}), 2);
  const std::vector<uint8_t> bytes = read(PNG_FORMAT_LINEAR_Y);
  const auto* level = reinterpret_cast<const uint16_t*>(bytes.data());
  EXPECT_EQ((std::vector<uint16_t>(level, level + 6)),
            (std::vector<uint16_t>{0, 16384, 32768, 65535, 65535, 3}));
  EXPECT_THROW(write_grey_map(path_, at::zeros({2, 2}), 0), std::invalid_argument);
  EXPECT_THROW(write_grey_map("/absent/folder/a.png", at::zeros({2, 2}), 1), DataError);
}

}  // namespace
}  // namespace slimbayes
