#include "slimbayes/data/images/images.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "slimbayes/data/images/image_encoder.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fs::path("images-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  fs::path folder_;
};

std::string word(int64_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16), static_cast<char>(x >> 8),
          static_cast<char>(x)};
}

std::string idx(const std::vector<int64_t>& sizes, const std::string& bytes) {
  std::string file = {0, 0, 8, static_cast<char>(sizes.size())};
  for (int64_t size : sizes) file += word(size);
  return file + bytes;
}

/// Returns n CIFAR records. Record i holds the pixels i, i + 1, ... modulo 256.
std::string records(int64_t n, int labels = 1, int classes = 10) {
  std::string all;
  for (int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < labels; ++k) all += static_cast<char>(i % classes);
    for (int64_t p = 0; p < 3072; ++p) all += static_cast<char>((i + p) % 256);
  }
  return all;
}

TEST_F(Files, AnIdxFileIsReadWithItsLabels) {
  const std::string path = write("train-images-idx3-ubyte", idx({2, 2, 3}, "abcdefghijkl"));
  EXPECT_EQ(image_format(path), "idx");
  EXPECT_EQ(image_format("rows.csv"), "");
  EXPECT_EQ(image_format(write("pictures", idx({2, 2, 3}, "abcdefghijkl"))), "idx");
  Images bare = read_images(path, "idx");
  EXPECT_FALSE(bare.labels.defined());
  EXPECT_EQ(bare.pixels.sizes(), at::IntArrayRef({2, 1, 2, 3}));
  EXPECT_EQ(bare.pixels[1][0][0][2].item<int64_t>(), 'i');
  write("train-labels-idx1-ubyte", idx({2}, std::string{7, 3}));
  const Images images = read_images(path, "idx");
  EXPECT_TRUE(at::equal(images.labels, at::tensor(std::vector<int64_t>{7, 3})));
  EXPECT_FALSE(read_images(path, "idx", {}, /*with_labels=*/false).labels.defined());
  EXPECT_TRUE(at::equal(take_images(images, {1}).pixels, images.pixels.narrow(0, 1, 1)));
  EXPECT_THROW(take_images(images, {2}), std::invalid_argument);
}

TEST_F(Files, WhatIsNoIdxPairIsRefusedWithItsPlace) {
  const auto error = [&](const std::string& bytes) {
    return error_of([&] { read_images(write("a-images-idx3-ubyte", bytes), "idx"); });
  };
  expect_has(error(""), "received an empty file");
  expect_has(error("PNG....."), "expected an IDX file of bytes in 3 dimensions");
  expect_has(error(idx({2, 2, 3}, "abc")), "expected 28 bytes, as its head says (2 x 2 x 3); received 19");
  expect_has(error(idx({0, 2, 3}, "")), "expected at least one entry; received 0 x 2 x 3");
  expect_has(error(idx({1 << 30, 1 << 30, 1 << 30}, "abc")), "cut short or damaged");
  write("a-labels-idx1-ubyte", idx({3}, "abc"));
  expect_has(error(idx({2, 2, 3}, "abcdefghijkl")), "expected 2 labels, one for each image of");
  EXPECT_NO_THROW(read_images(folder_ / "a-images-idx3-ubyte", "idx", {}, /*with_labels=*/false));
  EXPECT_THROW(read_images(folder_ / "none-images-idx3-ubyte", "idx"), DataError);
  EXPECT_THROW(read_images(folder_ / "a-images-idx3-ubyte", "png"), std::invalid_argument);
}

TEST_F(Files, CifarRecordsHaveOneLabelByteOrTwo) {
  const Images ten = read_images(write("ten.bin", records(5)), "cifar10");
  EXPECT_EQ(ten.pixels.sizes(), at::IntArrayRef({5, 3, 32, 32}));
  EXPECT_EQ(ten.pixels[4][1][0][3].item<int64_t>(), (4 + 1024 + 3) % 256);
  EXPECT_TRUE(at::equal(ten.labels, at::arange(5)));
  for (int labels : {1, 2}) {
    const Images hundred = read_images(write("hundred.bin", records(3, labels, 100)), "cifar100");
    EXPECT_EQ(hundred.pixels.size(0), 3);
    EXPECT_EQ(hundred.pixels[2][0][0][1].item<int64_t>(), 3);
  }
  expect_has(error_of([&] { read_images(write("cut.bin", records(2).substr(9)), "cifar10"); }),
             "expected records of 3073 bytes");
  expect_has(error_of([&] { read_images(write("many.bin", records(30, 1, 30)), "cifar10"); }),
             "expected labels below 10; received 29");
  EXPECT_FALSE(read_images(folder_ / "many.bin", "cifar10", {}, /*with_labels=*/false).labels.defined());
}

Images grey(const std::vector<int64_t>& labels, uint64_t seed = 1) {
  const int64_t n = std::ssize(labels);
  return {"made", (256 * Stream(seed).uniform({n, 1, 6, 5})).to(at::kByte), at::tensor(labels, at::kLong)};
}

Batch everything(const Dataset& data, const RowContext& context = {}) {
  return data.source->rows(at::arange(data.size()), context);
}

TEST(ImageEncoder, StandardisesChannelsAndNumbersClasses) {
  const Images images = grey({3, 7, 3, 9});
  const ImageEncoder encoder = ImageEncoder::fit(images);
  const Batch batch = everything(encoder.dataset(images, true));
  EXPECT_NEAR(batch.inputs[0].mean().item<double>(), 0, 1e-6);
  EXPECT_NEAR(batch.inputs[0].square().mean().item<double>(), 1, 1e-5);
  EXPECT_EQ(encoder.schema().task.levels, (std::vector<std::string>{"3", "7", "9"}));
  EXPECT_TRUE(at::equal(batch.target, at::tensor({0.0, 1.0, 0.0, 2.0}, at::kDouble)));
  const ImageEncoder again = ImageEncoder::from_json(encoder.to_json());
  EXPECT_TRUE(at::equal(everything(again.dataset(images, false)).inputs[0], batch.inputs[0]));
  EXPECT_FALSE(everything(again.dataset(images, false)).target.defined());
}

TEST(ImageEncoder, DividesPixels) {
  const Images images = grey({3, 7, 3, 9});
  const ImageEncoder encoder = ImageEncoder::fit(images, 126);
  const at::Tensor x = everything(encoder.dataset(images, true)).inputs[0];
  EXPECT_TRUE(at::equal(x, images.pixels.to(at::kFloat) / 126));
  const ImageEncoder again = ImageEncoder::from_json(encoder.to_json());
  EXPECT_TRUE(at::equal(everything(again.dataset(images, false)).inputs[0], x));
  EXPECT_TRUE(at::equal(
      everything(ImageEncoder::from_json(ImageEncoder::fit(images, 255).to_json()).dataset(images, false))
          .inputs[0],
      images.pixels.to(at::kFloat) / 255));
  expect_has(error_of([&] { ImageEncoder::fit(images, 0.5); }), "0 or from 1 to 255; received 0.5");
  expect_has(error_of([&] { ImageEncoder::fit(images, 256); }), "received 256");
}

TEST(ImageEncoder, RefusesOtherSizesAndLabels) {
  const ImageEncoder encoder = ImageEncoder::fit(grey({0, 1}));
  expect_has(error_of([&] { encoder.dataset(grey({0, 1, 1, 5}), true); }), "received 5 at image 4");
  Images wide = grey({0, 1});
  wide.pixels = at::zeros({2, 1, 6, 6}, at::kByte);
  expect_has(error_of([&] { encoder.dataset(wide, true); }),
             "expected images of 1 x 6 x 5; received 1 x 6 x 6");
  expect_has(error_of([&] { ImageEncoder::fit(grey({4, 4})); }), "labels of at least two classes");
  Images bare = grey({0, 1});
  bare.labels = at::Tensor();
  expect_has(error_of([&] { ImageEncoder::fit(bare); }), "a label for each image");
  nlohmann::json damaged = encoder.to_json();
  damaged["levels"] = {"0", "x"};
  EXPECT_THROW(ImageEncoder::from_json(damaged), std::invalid_argument);
}

TEST(ImageSource, VariesAnImageByItsNumberAndTheStreamAlone) {
  const Images images = grey({0, 1, 0, 1, 0, 1});
  const Dataset data = ImageEncoder::fit(images).dataset(images, true, {2, true});
  const RowContext first{true, Stream(5)}, second{true, Stream(6)};
  const at::Tensor whole = everything(data, first).inputs[0];
  const at::Tensor some = data.source->rows(at::tensor(std::vector<int64_t>{4, 1}), first).inputs[0];
  EXPECT_TRUE(at::equal(some[0], whole[4]));
  EXPECT_TRUE(at::equal(some[1], whole[1]));
  EXPECT_FALSE(at::equal(everything(data, second).inputs[0], whole));
  EXPECT_FALSE(at::equal(everything(data).inputs[0], whole));  // predictions see the images unvaried
  const at::Tensor plain = everything(ImageEncoder::fit(images).dataset(images, true)).inputs[0];
  EXPECT_TRUE(at::equal(everything(data).inputs[0], plain));
}

TEST(ImageSource, AShiftedImageHoldsThePixelsOfTheOriginal) {
  Images images = grey({0, 1});
  images.pixels = at::zeros({2, 1, 6, 5}, at::kByte);
  images.pixels.select(2, 3).select(2, 2).fill_(255);
  const Dataset data = ImageEncoder::fit(images).dataset(images, true, {1, false});
  std::set<std::pair<int64_t, int64_t>> places;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const at::Tensor image = everything(data, {true, Stream(seed)}).inputs[0][0][0];
    const int64_t peak = image.argmax().item<int64_t>();
    places.emplace(peak / 5, peak % 5);
  }
  EXPECT_EQ(places.size(), 9u);  // every shift by -1, 0 or 1 in both directions
  EXPECT_TRUE(places.contains({2, 1}) && places.contains({4, 3}));
}

TEST(Images, OfMnistAndCifarAreWhatTheirFilesSay) {
  const auto digits = real_data("mnist/t10k-images-idx3-ubyte.gz"), colour = real_data("cifar10_test.bin.gz");
  if (!digits || !colour) return;
  const Images mnist = read_images(*digits, "idx");
  EXPECT_EQ(mnist.pixels.sizes(), at::IntArrayRef({10000, 1, 28, 28}));
  EXPECT_EQ(mnist.labels[0].item<int64_t>(), 7);
  const Images cifar = read_images(*colour, "cifar10");
  EXPECT_EQ(cifar.pixels.sizes(), at::IntArrayRef({2000, 3, 32, 32}));
  EXPECT_TRUE(at::equal(at::bincount(cifar.labels), at::full({10}, 200, at::kLong)));
}

}  // namespace
}  // namespace slimbayes
