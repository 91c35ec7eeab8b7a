#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "slimbayes/serve/serve_file.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/serve/serve_case.h"

namespace slimbayes {
namespace {

/// A calibrated model whose calibration rows weigh more the larger their score is.
Model with_calibration_weights(const Case& one) {
  ModelParts parts = fit_model(served_table(260, 1, one.repeats), request_of(one)).parts();
  const ConformalScores& scores = parts.calibration;
  const int64_t* first = scores.group.const_data_ptr<int64_t>();
  const std::vector<int64_t> group(first, first + scores.group.numel());
  const at::Tensor weight = scores.value.square() + 0.1;
  parts.calibration =
      sorted_scores(scores.value, group, conformal_weights(weight, group, ConformalWeight::importance));
  return Model(std::move(parts));
}

TEST(ServedCalibrationWeights, GiveTheFactorOfTheModel) {
  for (const bool repeats : {false, true}) {
    const Model model =
        with_calibration_weights({"", "ridge", json::object(), "conformal", json::object(), repeats});
    ConformalScores plain = model.calibration();
    plain.weight = at::Tensor();
    const CalibrationScores scores = served_file(model.to_file()).calibration;
    for (const double level : {0.2, 0.5, 0.8})
      EXPECT_EQ(scores.factor(level), conformal_factor(model.calibration(), level)) << level;
    EXPECT_GT(scores.factor(0.5), conformal_factor(plain, 0.5));
    const serve::Model rows = served(model);
    const Table fresh = served_table(20, 2);
    const Interval ends = model.interval(model.predict(fresh), 0.8);
    for (int64_t i = 0; i < fresh.rows; ++i) {
      const double upper = ends.upper[i].item<double>();
      EXPECT_NEAR(rows.predict(row_of(fresh, rows, i), 0.8).upper, upper, 1e-9 * std::abs(upper)) << i;
    }
  }
}

TEST(ServedCalibrationWeights, MoveTheSetsOfClasses) {
  const Model model = with_calibration_weights(
      {"", "logistic", json::object(), "conformal", {{"target", "grade"}}, /*repeats=*/false});
  const serve::Model rows = served(model);
  const Table fresh = served_table(20, 2);
  const Answers answers = model.answers(fresh, {{0.8}});
  const PredictionSet& expected = answers.levels.front().set.value();
  std::vector<unsigned char> set(3);
  for (int64_t i = 0; i < fresh.rows; ++i) {
    rows.prediction_set(row_of(fresh, rows, i), 0.8, set);
    for (int64_t c = 0; c < 3; ++c)
      EXPECT_EQ(set[static_cast<size_t>(c)] != 0, expected[i][c].item<bool>()) << i << " " << c;
  }
}

/// Sets the version of what the file holds for serving.
void set_version(TensorFile& file, int version) {
  json serve = json::parse(file.metadata.at("serve"));
  serve["version"] = version;
  file.metadata["serve"] = serve.dump();
}

int version_of(const TensorFile& file) {
  return json::parse(file.metadata.at("serve")).at("version").get<int>();
}

// A reader that knows no weights knows version 1 alone, and refuses every other as this one does 3.
TEST(ServedCalibrationWeights, HaveAVersionThatReadersWithoutThemRefuse) {
  const Case plain{"", "ridge", json::object()}, calibrated{"", "ridge", json::object(), "conformal"};
  for (const Case& one : {plain, calibrated})
    EXPECT_EQ(version_of(fit_model(served_table(260, 1), request_of(one)).to_file()), 1) << one.calibrate;
  const Model model = with_calibration_weights(calibrated);
  TensorFile file = model.to_file();
  EXPECT_EQ(version_of(file), 2);
  const double factor = conformal_factor(model.calibration(), 0.8);
  for (const int version : {2, 1}) {  // weights were in files of version 1 for a while
    set_version(file, version);
    EXPECT_EQ(served_file(file).calibration.factor(0.8), factor) << version;
  }
  for (const int version : {0, 4}) {
    set_version(file, version);
    const std::string message = error_of([&] { serve::Model::open(to_bytes(file), "other"); });
    expect_has(message, "a file of this version of the library");
    expect_has(message, "`slimbayes predict` and `slimbayes export` of the newer version read it");
  }
}

TEST(ServedCalibrationWeights, OfADamagedFileAreRefused) {
  TensorFile file = with_calibration_weights({"", "ridge", json::object(), "conformal"}).to_file();
  EXPECT_NO_THROW(serve::Model::open(to_bytes(file), "whole"));
  std::memset(file.tensors.at("calibration.weights").bytes.data(), 0, sizeof(double));
  EXPECT_THROW(serve::Model::open(to_bytes(file), "damaged"), DataError);
  EXPECT_THROW(Model::from_file(file, "damaged"), DataError);
}

// Each weight is finite and above 0. As ranks are whole numbers, their sum must be one that a double counts.
TEST(ServedCalibrationWeights, OfAFileWhoseSumIsTooLargeAreRefused) {
  TensorFile file = with_calibration_weights({"", "ridge", json::object(), "conformal"}).to_file();
  const auto put = [&](size_t place, double weight) {
    std::memcpy(file.tensors.at("calibration.weights").bytes.data() + place * sizeof(double), &weight,
                sizeof(double));
  };
  const auto expect_refused = [&] {
    for (const std::string& message : {error_of([&] { serve::Model::open(to_bytes(file), "damaged"); }),
                                       error_of([&] { Model::from_file(file, "damaged"); })})
      expect_has(message, "weights of the calibration rows that sum to at most 2^53");
  };
  for (const double large : {1e16, 1e19, 1e300}) {
    put(0, large);
    expect_refused();
  }
  put(0, 1.7e308);
  put(1, 1.7e308);  // the sum is infinite
  expect_refused();
  put(0, 1e15);
  put(1, 1);
  EXPECT_NO_THROW(serve::Model::open(to_bytes(file), "heavy"));
  EXPECT_NO_THROW(Model::from_file(file, "heavy"));
}

}  // namespace
}  // namespace slimbayes
