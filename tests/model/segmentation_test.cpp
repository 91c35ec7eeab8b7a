#include "slimbayes/model/segmentation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/storage/error.h"
#include "tests/data/images/label_maps.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

using nlohmann::json;

FitOptions by_pixel(const std::string& method, int64_t steps = 40) {
  FitOptions fit;
  fit.method = method;
  fit.test_fraction = 0.2;
  fit.options = {{"steps", steps}, {"hidden", 8}, {"batch", 8}, {"dropout", 0.1}};
  if (method == "mc-dropout") fit.options["draws"] = 4;
  return fit;
}

const Model& dropout_model() {
  static const Model model = fit_model(horizons(40), by_pixel("mc-dropout", 120));
  return model;
}

TEST(Segmentation, BlocksGiveTheReportOfAllPixels) {
  const Model& model = dropout_model();
  const Examples images = horizons(21, 5);  // more than two blocks
  const json streamed = fields_to_json(model.evaluate(images)),
             whole = fields_to_json(model.evaluate(images, model.answers(images, {{0.95}})));
  EXPECT_EQ(streamed["n"], 21);
  EXPECT_EQ(streamed["pixels"], 21 * 8 * 11);
  EXPECT_EQ(streamed["void"], 21 * 8);
  for (const char* key : {"accuracy", "miou", "mpa", "nll", "ece", "mean_entropy", "mean_mutual_information"})
    EXPECT_NEAR(streamed[key].get<double>(), whole[key].get<double>(), 1e-6) << key;
  EXPECT_GT(streamed["miou"].get<double>(), 0.8);
  EXPECT_GT(streamed["mean_mutual_information"].get<double>(), 0);
  EXPECT_LT(streamed["nll"].get<double>(), streamed["nll_constant"].get<double>());
}

TEST(Segmentation, AnAnswerHasARowForEachPixel) {
  const Model& model = dropout_model();
  const Examples images = horizons(3, 6);
  const auto p = std::get<Classes>(model.answer(images));
  EXPECT_EQ(p.probabilities.sizes(), at::IntArrayRef({3 * 96, 2}));
  const Model again = Model::from_file(model.to_file(), "copy");
  EXPECT_TRUE(at::equal(std::get<Classes>(again.answer(images)).probabilities, p.probabilities));
  expect_has(error_of([&] { model.ood(images); }), "received one of segmentation");
}

TEST(Segmentation, ASummaryHasALineForEachImage) {
  const Model& model = dropout_model();
  Images images = horizons(11, 7);
  images.labels[4].fill_(2);  // void everywhere
  double last = 0;
  PredictOptions options;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  const ImageSummaries all = image_summaries(model, images, options);
  EXPECT_DOUBLE_EQ(last, 1);
  EXPECT_TRUE(all.bad.empty());
  ASSERT_EQ(all.table.names(), (std::vector<std::string>{"image", "entropy", "mutual_information",
                                                         "share_sky", "share_ground", "accuracy"}));
  const auto p = std::get<Classes>(model.answer(take(Examples(images), {9})));
  EXPECT_NEAR(all.table.find("entropy")->values[9], p.predictive_entropy.mean().item<double>(), 1e-6);
  EXPECT_NEAR(all.table.find("share_sky")->values[9] + all.table.find("share_ground")->values[9], 1, 1e-12);
  EXPECT_TRUE(std::isnan(all.table.find("accuracy")->values[4]));
  EXPECT_GT(all.table.find("accuracy")->values[9], 0.8);
  images.labels = at::Tensor();
  EXPECT_EQ(image_summaries(model, images).table.find("accuracy"), nullptr);
}

TEST(Segmentation, LeavesVoidAndAbsentClassesOut) {
  const Model& model = dropout_model();
  Images sky = horizons(3, 8);
  sky.labels.masked_fill_(sky.labels == 1, 2);
  const PixelScores scores = model.evaluate(sky).pixels.value();
  EXPECT_EQ(scores.absent, std::vector<std::string>{"ground"});
  EXPECT_DOUBLE_EQ(scores.mpa, scores.class_accuracy.at("sky"));
  sky.labels.fill_(2);
  expect_has(error_of([&] { model.evaluate(sky); }), "label maps that are void everywhere");
  Images nothing = horizons(20);
  nothing.labels.fill_(2);
  expect_has(error_of([&] { fit_model(nothing, by_pixel("dnn")); }), "label maps that are void everywhere");
  Images one = horizons(20);  // training sees one of the two classes
  one.labels.masked_fill_(one.labels == 1, 2);
  EXPECT_EQ(fit_model(one, by_pixel("dnn", 5)).schema().task.outputs, 2);
}

TEST(Segmentation, AModelWithoutAFiniteAnswerIsNamed) {
  TensorFile file = dropout_model().to_file();
  const auto head = std::ranges::find_if(file.tensors, [](const auto& item) {
    return item.first.ends_with(".weight") && item.second.shape == std::vector<int64_t>{2, 2, 1, 1};
  });
  ASSERT_NE(head, file.tensors.end());
  head->second = to_stored(at::full({2, 2, 1, 1}, 3e38, at::kFloat));  // the logits of both classes overflow
  const Model model = Model::from_file(file, "overflow");
  expect_has(error_of([&] { model.evaluate(horizons(2)); }),
             "expected a model with finite answers; received none for 2 images");
}

TEST(Segmentation, WhatDoesNotFitIsOneSentence) {
  const auto refused = [](const FitOptions& fit) { return error_of([&] { fit_model(horizons(20), fit); }); };
  expect_has(refused(by_pixel("vbll")), "expected an input that vbll takes");
  FitOptions fit = by_pixel("dnn");
  fit.options["network"] = "convnet";
  expect_has(refused(fit), "a network for segmentation; received 'convnet'; fcn takes it");
  fit = by_pixel("dnn");
  fit.calibrate = "conformal";
  expect_has(refused(fit), "a regression or classes to calibrate; received segmentation");
  fit = by_pixel("ensemble");
  fit.options["of"] = "vbll";
  expect_has(refused(fit), "`.of=dnn` makes members that take it");
  TensorFile file = dropout_model().to_file();
  json encoder = json::parse(file.metadata.at("encoder"));
  encoder["size"] = {1, 8, 11};
  file.metadata["encoder"] = encoder.dump();
  EXPECT_THROW(Model::from_file(file, "other"), DataError);
  encoder["size"] = {1, 8, 12};
  encoder["kind"] = "images";
  encoder["levels"] = {"0", "1"};
  file.metadata["encoder"] = encoder.dump();
  EXPECT_THROW(Model::from_file(file, "other"), DataError);
}

TEST(Segmentation, ABatchHasEightImagesUnlessGiven) {
  FitOptions fit = by_pixel("dnn", 1);
  fit.valid_fraction = fit.test_fraction = 0;
  for (const auto& [batch, steps] : {std::pair(0, 3), std::pair(5, 4)}) {
    fit.options["batch"] = batch;
    const Model model = fit_model(horizons(20), fit);
    EXPECT_EQ(model.fitted().summary().steps, steps * model.fitted().summary().epochs);
  }
}

TEST(Segmentation, ClassWeightsCountPixels) {
  FitOptions fit = by_pixel("dnn", 20);
  fit.options["class_weights"] = "balanced";
  EXPECT_TRUE(std::isfinite(fit_model(horizons(20), fit).evaluate(horizons(4, 2)).nll));
  fit = by_pixel("full-rank", 20);
  fit.options.erase("dropout");
  fit.options["class_weights"] = "balanced";
  EXPECT_TRUE(std::isfinite(fit_model(horizons(20), fit).evaluate(horizons(4, 2)).nll));
}

}  // namespace
}  // namespace slimbayes
