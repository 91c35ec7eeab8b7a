// Tests models of windows and texts through fit_model: which parts of a model file must fit together, and
// what a model keeps of its data.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/fuzz/small_inputs.h"

namespace slimbayes {
namespace {

using nlohmann::json;

constexpr double kHour = 3600;

/// Returns a time series in which y runs ahead of x. Its rows are `step` seconds apart, from `start` on.
Table series(int64_t rows, double step = kHour, double start = 1.6e9) {
  std::vector<double> time, x, y;
  for (int64_t i = 0; i < rows; ++i) {
    const auto place = static_cast<double>(i);
    time.push_back(start + place * step);
    x.push_back(std::sin(place / 5));
    y.push_back(std::sin(place / 5 + 0.2));
  }
  Table table = table_of({numbers("t", time), numbers("x", x), numbers("y", y)});
  table.columns[0].kind = ColumnKind::datetime;
  return table;
}

FitOptions on_windows(int64_t window = 4) {
  FitOptions fit;
  fit.target = "y";
  fit.method = "dnn";
  fit.options = {{"steps", 20}, {"hidden", 8}, {"blocks", 1}};
  fit.window = window;
  fit.time = {"t"};
  return fit;
}

Table sentences(int64_t rows) {
  std::vector<double> index, label;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < rows; ++i) {
    index.push_back(static_cast<double>(i));
    label.push_back(static_cast<double>(i % 2));
    texts.push_back((i % 2 ? "good film " : "bad film ") + std::to_string(i));
  }
  return table_of({categories("text", index, texts), numbers("label", label)});
}

TEST(Workflow, AModelOfWindowsKnowsItsStep) {
  const Model model = fit_model(series(120), on_windows());
  const Examples last = model.examples(take_rows(series(120), {116, 117, 118, 119}));
  ASSERT_EQ(count(last), 1);
  const AnswerTable answer = answer_table(model, last, model.answers(last, {{0.95}}));
  EXPECT_EQ(answer.table.find("forecast_time")->values, (std::vector<double>{1.6e9 + 120 * kHour}));
  expect_has(error_of([&] { model.answers(series(20, 24 * kHour)); }),
             "rows in steps of 3600 s, as in training; received steps of 86400 s");
  // The answers belong to windows, so a table of all rows does not fit them.
  expect_has(error_of([&] { answer_table(model, series(120), model.answers(series(120), {{0.95}})); }),
             "Model::examples() finds the windows");
  const Scores scores = model.ood(series(120));  // dnn has one noise variance: those of the inputs alone
  EXPECT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores.at("distance").size(0), 117);
}

TEST(Workflow, AModelOfImagesKeepsTheirMean) {
  const Examples images = trial::small_images(60);
  FitOptions fit;
  fit.format = "idx";
  fit.method = "bll";
  fit.options = {{"steps", 10}, {"hidden", 8}};
  const Model model = fit_model(images, fit), loaded = Model::from_file(model.to_file(), "m");
  const Scores scores = model.ood(images), again = loaded.ood(images);
  std::vector<std::string> names;
  for (const auto& [name, score] : scores) {
    names.push_back(name);
    EXPECT_EQ(score.size(0), 60);
    EXPECT_TRUE(at::equal(score, again.at(name))) << name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"distance", "energy", "entropy", "logit_var", "max_softmax",
                                             "mutual_information"}));
  TensorFile without = model.to_file();
  without.tensors.erase("images.mean");
  EXPECT_THROW(Model::from_file(without, "m"), DataError);
  TensorFile forged = model.to_file();
  forged.tensors["images.mean"] = to_stored(at::zeros({2, 7, 5}));
  EXPECT_THROW(Model::from_file(forged, "m"), DataError);
}

TEST(Workflow, StepsBelowASecondAreSteps) {
  const Model model = fit_model(series(120, 0.1), on_windows());
  EXPECT_EQ(row_count(model.answer(series(120, 0.1))), 117);
}

TEST(Workflow, TwoNumbersBesideATextAreClasses) {
  FitOptions fit;
  fit.target = "label";
  fit.text = "text";
  fit.method = "vbll";
  fit.options = {{"steps", 10}, {"hidden", 8}, {"blocks", 1}, {"heads", 2}};
  const Model model = fit_model(sentences(60), fit);
  EXPECT_EQ(model.method(), "vbll");
  EXPECT_EQ(model.schema().task.levels, (std::vector<std::string>{"0", "1"}));

  // Forges a file: the encoder does not belong to the network, but the checksum is correct.
  const auto refused = [&](const std::function<void(json&)>& edit) {
    TensorFile file = model.to_file();
    json encoder = json::parse(file.metadata["encoder"]);
    edit(encoder);
    file.metadata["encoder"] = encoder.dump();
    try {
      Model::from_file(file, "forged.safetensors");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  expect_has(refused([](json& e) {
               for (int i = 0; i < 500; ++i) e["words"].push_back("word" + std::to_string(i));
             }),
             "forged.safetensors: ");
  expect_has(refused([](json& e) { e["longest"] = 60000; }), "a network for");
  expect_has(refused([](json& e) {
               e["task"]["likelihood"] = "cox";
               e["task"]["levels"] = json::array();
             }),
             "a task that a target has");
}

TEST(Workflow, TheModelKeepsWhatItWasFittedWith) {
  FitOptions fit = on_windows();
  fit.seed = 7;
  fit.valid_fraction = 0.2;
  const Model model = fit_model(series(120), fit);
  const Model loaded = Model::from_file(model.to_file(), "m");
  EXPECT_EQ(options_to_json(loaded.fit_options()), options_to_json(model.fit_options()));
  EXPECT_EQ(loaded.fit_options().seed, 7u);
  EXPECT_EQ(loaded.fit_options().method, "dnn");
}

TEST(Workflow, OptionsOfAnotherKindOfInputAreRefused) {
  FitOptions fit = on_windows();
  fit.crop = 2;
  expect_has(error_of([&] { fit_model(series(60), fit); }), "`.crop`, which belongs to 'Images'");
  fit = on_windows();
  fit.method = "gp-exact";
  fit.options = json::object();
  expect_has(error_of([&] { fit_model(series(60), fit); }),
             "an input that gp-exact takes, table; received windows");
}

}  // namespace
}  // namespace slimbayes
