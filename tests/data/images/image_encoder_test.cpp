// Label maps: reading their records, encoding them, and varying them together with their images.
#include "slimbayes/data/images/image_encoder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "slimbayes/answers/pixels.h"
#include "slimbayes/data/input_encoder.h"
#include "slimbayes/data/table/camvid.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

class LabelMaps : public testing::Test {
 protected:
  void SetUp() override { path_ = fs::temp_directory_path() / fmt::format("maps-{}.bin", ::getpid()); }
  void TearDown() override { fs::remove(path_); }

  Images read(const std::string& bytes, bool with_labels = true) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return read_images(path_, "camvid", {}, with_labels);
  }

  fs::path path_;
};

/// Returns records whose labels are i, i + 1, ... modulo 12 and whose planes hold 100, 101 and 102.
std::string scene_records(int64_t n) {
  std::string all;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < kCamvidPixels; ++p) all += static_cast<char>((i + p) % 12);
    for (char plane : {'\x64', '\x65', '\x66'}) all.append(static_cast<size_t>(kCamvidPixels), plane);
  }
  return all;
}

TEST_F(LabelMaps, AreReadFromRecords) {
  const Images images = read(scene_records(3));
  EXPECT_EQ(images.pixels.sizes(), at::IntArrayRef({3, 3, 96, 128}));
  EXPECT_EQ(images.labels.sizes(), at::IntArrayRef({3, 96, 128}));
  EXPECT_EQ(images.labels[2][1][3].item<int64_t>(), (2 + 128 + 3) % 12);
  EXPECT_EQ(images.pixels[1][2].min().item<int64_t>(), 102);
  EXPECT_EQ(images.classes.size(), 11u);
  EXPECT_EQ(images.classes[8], "Car");
  EXPECT_EQ(format_of(path_), "camvid");
  EXPECT_EQ(take_images(images, {2}).classes, images.classes);
  expect_has(error_of([&] { read(scene_records(2).substr(9)); }), "expected records of 49152 bytes");
  std::string strange = scene_records(2);
  strange[4 * kCamvidPixels + 5] = 77;
  expect_has(error_of([&] { read(strange); }),
             "expected labels up to 11, which means no class; received 77 in image 2");
  EXPECT_FALSE(read(strange, /*with_labels=*/false).labels.defined());
  expect_has(error_of([&] { read(""); }), "received an empty file");
}

/// Returns images of three classes whose grey value tells the label: 60 times the label. The last label of
/// each map is void (3).
Images scenes(int64_t n, int64_t height = 4, int64_t width = 6) {
  at::Tensor labels = (3 * Stream(1).uniform({n, height, width})).floor();
  Images images{
      "made", (60 * labels).to(at::kByte).unsqueeze(1), labels.to(at::kByte), {"sky", "road", "car"}};
  images.labels.flatten(1).select(1, -1).fill_(3);
  return images;
}

Batch all_of(const Dataset& data, const RowContext& context = {}) {
  return data.source->rows(at::arange(data.size()), context);
}

TEST(ImageEncoder, OfLabelMapsHasAClassForEachPixel) {
  const Images images = scenes(5);
  const ImageEncoder encoder = ImageEncoder::fit(images);
  const Task& task = encoder.schema().task;
  EXPECT_EQ(task.levels, images.classes);
  EXPECT_EQ(task.outputs, 3);
  EXPECT_EQ(task.grid, (PixelGrid{4, 6}));
  EXPECT_EQ(rows_per_example(task), 24);
  const at::Tensor y = all_of(encoder.dataset(images, true)).target;
  ASSERT_EQ(y.sizes(), at::IntArrayRef({5, 24}));
  EXPECT_EQ(y[2][7].item<double>(), images.labels[2][1][1].item<double>());
  EXPECT_TRUE(y.select(1, 23).eq(kVoid).all().item<bool>());
  EXPECT_TRUE(at::equal(encoder.target(images), y));
  EXPECT_FALSE(all_of(encoder.dataset(images, false)).target.defined());
  const InputEncoder again = input_encoder_from_json(encoder.to_json());
  EXPECT_EQ(kind_of(again), InputKind::segmentation);
  EXPECT_EQ(schema_of(again).task.grid, task.grid);
  EXPECT_TRUE(at::equal(target_as_given(again, images), y));
}

/// Returns images whose label is i modulo `count`, and the names of the classes.
Images named(std::vector<std::string> names, int64_t count = 3) {
  const at::Tensor labels = at::arange(6) % count;
  return {"made", (60 * labels).to(at::kByte).view({6, 1, 1, 1}).expand({6, 1, 2, 2}), labels,
          std::move(names)};
}

TEST(ImageEncoder, KeepsTheNamesOfSingleLabels) {
  const Images images = named({"sky", "road", "car", "bus"});
  EXPECT_EQ(kind_of(images), InputKind::images);
  const ImageEncoder encoder = ImageEncoder::fit(images);
  EXPECT_EQ(encoder.label_kind(), ColumnKind::categorical);
  EXPECT_EQ(encoder.schema().task.levels, (std::vector<std::string>{"sky", "road", "car"}));
  const ImageEncoder again = ImageEncoder::from_json(encoder.to_json());
  EXPECT_EQ(again.to_json(), encoder.to_json());
  EXPECT_TRUE(at::equal(again.target(images), images.labels.to(at::kDouble)));
  // Names are found wherever they stand. Numbers could be those of another order: they are refused.
  EXPECT_TRUE(
      at::equal(again.target(named({"car", "sky", "road"})), ((images.labels + 2) % 3).to(at::kDouble)));
  expect_has(
      error_of([&] { again.target(named({})); }),
      "expected labels of the training images (sky, road, car); received 0 at image 1; give the names");
  expect_has(error_of([&] {
               again.target(named({"sky", "road", "bus"}));
             }),
             "expected labels of the training images (sky, road, car); received bus at image 3");
  expect_has(error_of([&] { ImageEncoder::fit(named({"sky", "road"})); }), "labels of the 2 classes");
  expect_has(error_of([&] { ImageEncoder::fit(named({"sky", "road", "sky"})); }), "different names");
}

TEST(ImageEncoder, OfNumbersIsStoredWithoutNames) {
  Images images = named({});
  images.labels = 5 * images.labels + 2;
  const ImageEncoder encoder = ImageEncoder::fit(images);
  EXPECT_EQ(encoder.label_kind(), ColumnKind::numeric);
  nlohmann::json json = encoder.to_json();
  EXPECT_FALSE(json.contains("named"));
  EXPECT_TRUE(
      at::equal(ImageEncoder::from_json(json).target(images), ((images.labels - 2) / 5).to(at::kDouble)));
  json["levels"] = {"2", "2", "12"};
  EXPECT_THROW(ImageEncoder::from_json(json), std::invalid_argument);
}

TEST(ImageEncoder, RefusesOtherLabelMaps) {
  const ImageEncoder encoder = ImageEncoder::fit(scenes(5));
  Images single = scenes(2);
  single.labels = at::arange(2);
  expect_has(error_of([&] { encoder.dataset(single, true); }),
             "expected a label map for each image, as in training; received one label for each image");
  expect_has(error_of([&] { ImageEncoder::fit(single).target(scenes(2)); }),
             "received a label map for each image");
  Images strange = scenes(2);
  strange.labels[1][0][0] = 4;
  expect_has(error_of([&] { encoder.dataset(strange, true); }), "label maps of bytes from 0 to 3");
  strange = scenes(2);
  strange.classes = {"sky", "road", "bus"};
  expect_has(error_of([&] { encoder.target(strange); }), "with the classes of training");
  expect_has(error_of([&] { encoder.dataset(scenes(2, 4, 5), true); }), "expected images of 1 x 4 x 6");
  nlohmann::json damaged = encoder.to_json();
  damaged["levels"] = {"sky", "sky", "car"};
  EXPECT_THROW(ImageEncoder::from_json(damaged), std::invalid_argument);
}

TEST(ImageSource, MovesALabelMapWithItsImageAndReflectsTheEdge) {
  Images images = scenes(6);
  images.labels = (images.pixels.squeeze(1) / 60).to(at::kByte);  // nowhere void
  const ImageEncoder encoder = ImageEncoder::fit(images);
  const Dataset data = encoder.dataset(images, true, {2, true});
  const at::Tensor plain = all_of(data).inputs[0];
  bool moved = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Batch batch = all_of(data, {true, Stream(seed)});
    const at::Tensor level = all_of(encoder.dataset(images, false)).inputs[0];
    moved = moved || !at::equal(batch.inputs[0], plain);
    // The grey value of a pixel still tells its label, at the reflected edge too: standardised, it is linear
    // in it.
    const at::Tensor x = batch.inputs[0].flatten(1).to(at::kDouble), y = batch.target;
    const double low = plain.min().item<double>(), high = plain.max().item<double>();
    EXPECT_TRUE(at::allclose(x, low + y * (high - low) / 2, 1e-5, 1e-5));
  }
  EXPECT_TRUE(moved);
}

TEST(ImageSource, AShiftedMapIsTheReflectedImage) {
  Images images = scenes(1, 1, 4);
  images.labels = at::tensor({0, 1, 2, 0}, at::kByte).view({1, 1, 4});
  const Dataset data = ImageEncoder::fit(scenes(4, 1, 4)).dataset(images, true, {0, false});
  EXPECT_TRUE(at::equal(all_of(data, {true, Stream(1)}).target, all_of(data).target));
  std::set<std::vector<double>> seen;
  const Dataset moving = ImageEncoder::fit(scenes(4, 1, 4)).dataset(images, true, {1, false});
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const at::Tensor y = all_of(moving, {true, Stream(seed)}).target.contiguous();
    seen.emplace(y.const_data_ptr<double>(), y.const_data_ptr<double>() + 4);
  }
  EXPECT_EQ(seen, (std::set<std::vector<double>>{{1, 0, 1, 2}, {0, 1, 2, 0}, {1, 2, 0, 2}}));
}

TEST(ImageSource, AShiftedImageIsReflectedAtItsEdge) {
  const at::Tensor pixels = at::arange(4, at::kByte).view({1, 1, 1, 4}).expand({3, 1, 1, 4}).contiguous();
  const Images images{"made", pixels, at::tensor({0, 1, 2}, at::kByte), {}};
  const Dataset data = ImageEncoder::fit(images).dataset(images, true, {1, false});
  const at::Tensor plain = all_of(data).inputs[0];
  std::set<std::vector<float>> seen, expected;
  for (const std::vector<int64_t>& row : {std::vector<int64_t>{1, 0, 1, 2}, {0, 1, 2, 3}, {1, 2, 3, 2}}) {
    const at::Tensor x = plain[0].flatten().index_select(0, at::tensor(row)).contiguous();
    expected.emplace(x.const_data_ptr<float>(), x.const_data_ptr<float>() + 4);
  }
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const at::Tensor x = all_of(data, {true, Stream(seed)}).inputs[0][0].flatten().contiguous();
    seen.emplace(x.const_data_ptr<float>(), x.const_data_ptr<float>() + 4);
  }
  EXPECT_EQ(seen, expected);
}

TEST(Images, OfCamvidAreWhatTheirFileSays) {
  const auto path = real_data("camvid_test.bin.gz");
  if (!path) return;
  EXPECT_EQ(format_of(*path), "camvid");
  const Images images = read_images(*path, "camvid");
  EXPECT_EQ(images.pixels.size(0), 233);
  const at::Tensor counts = at::bincount(images.labels.flatten().to(at::kLong), {}, 12);
  EXPECT_TRUE(counts.gt(0).all().item<bool>());
  EXPECT_EQ(counts.argmax().item<int64_t>(), 3);  // most pixels are road
}

}  // namespace
}  // namespace slimbayes
