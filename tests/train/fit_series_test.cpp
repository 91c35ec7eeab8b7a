#include "slimbayes/train/fit_series.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "slimbayes/train/checkpoint.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

class FitSeriesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("fit_series" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  CheckpointPolicy policy(bool resume, std::string fingerprint = "abc") const {
    return {folder_ / "m.ckpt", resume, fingerprint};
  }
  void touch(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(FitSeriesTest, StartsWithAnEmptyRecordAndWithoutOldParts) {
  for (const char* name : {"m.ckpt.0", "m.ckpt.0.1", "m.ckpt.old", "m.ckptx.1", "n.ckpt.1"}) touch(name);
  EXPECT_FALSE(FitSeries(policy(false), "toy").start(3));
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.old", "m.ckptx.1", "n.ckpt.1"}));
}

TEST_F(FitSeriesTest, ResumesItsRecordAndKeepsTheRunningPart) {
  {
    FitSeries series(policy(false), "toy");
    series.start(3);
    for (const char* name : {"m.ckpt.0", "m.ckpt.0.4", "m.ckpt.1"}) touch(name);
    TensorFile record;
    record.metadata["what"] = "first";
    series.keep(record, 1);
  }
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.1"}));
  auto found = FitSeries(policy(true), "toy").start(3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metadata.at("what"), "first");
  EXPECT_EQ(found->metadata.at("done"), "1");
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.1"}));
  EXPECT_THROW(FitSeries(policy(true, "abd"), "toy").start(3), std::invalid_argument);
  EXPECT_THROW(FitSeries(policy(true), "other").start(3), std::invalid_argument);
}

TEST_F(FitSeriesTest, PartsHavePathsAndFingerprintsOfTheirOwn) {
  FitSeries series(policy(true), "toy");
  EXPECT_EQ(series.part(3).path, folder_ / "m.ckpt.3");
  EXPECT_TRUE(series.part(3).resume);
  EXPECT_NE(series.part(3).fingerprint, series.part(4).fingerprint);
  EXPECT_NE(series.part(3).fingerprint, "abc");
}

TEST_F(FitSeriesTest, RemovingACheckpointTakesItsParts) {
  for (const char* name : {"m.ckpt", "m.ckpt.0", "m.ckpt.0.1", "m.ckpt.old", "m.ckptx.1"}) touch(name);
  remove_checkpoint(folder_ / "m.ckpt");
  EXPECT_EQ(files(), (Names{"m.ckpt.old", "m.ckptx.1"}));
  remove_checkpoint(folder_ / "absent.ckpt");
}

TEST_F(FitSeriesTest, AForeignFingerprintIsNamedByWhatDiffers) {
  const auto message = [](const std::string& found) {
    try {
      check_fingerprint(found, R"({"seed":1,"threads":2,"options":{"a":1}}, ensemble 3)", "the checkpoint",
                        "remove it");
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(R"({"seed":1,"threads":2,"options":{"a":1}}, ensemble 3)"), "");
  EXPECT_NE(message(R"({"seed":2,"threads":2,"options":{"a":2}})").find("one of another: options, seed;"),
            std::string::npos);
  EXPECT_NE(message(R"({"seed":1,"threads":2,"options":{"a":1}})").find("one of another: kind;"),
            std::string::npos);
  EXPECT_NE(message("old").find("data, options, seed or threads"), std::string::npos);
}

TEST_F(FitSeriesTest, WithoutAPathNothingIsWritten) {
  FitSeries series({}, "toy");
  EXPECT_FALSE(series.start(3));
  series.keep({}, 2);
  EXPECT_TRUE(series.part(1).path.empty());
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace slimbayes
