#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/serve/model.h"
#include "slimbayes/serve/slimbayes_serve.h"
#include "slimbayes/version.h"
#include "tests/serve/serve_sample.h"

namespace slimbayes {
namespace {

std::vector<std::byte> model_bytes(const std::string& target = "y") {
  FitOptions fit;
  fit.target = target;
  fit.method = target == "y" ? "ridge" : "logistic";
  if (target != "y") {
    fit.calibrate = "conformal";
    fit.calibration_fraction = 0.3;
  }
  fit.ignore = {"bit", "code", "smoker", "gap"};
  for (const char* other : {"y", "z", "grade", "pass", "events"})
    if (target != other) fit.ignore.emplace_back(other);
  return to_bytes(fit_model(served_table(200, 1), fit).to_file());
}

struct Closed {
  void operator()(slimbayes_model* model) const { slimbayes_close(model); }
};
using Handle = std::unique_ptr<slimbayes_model, Closed>;

TEST(ServeC, AnswersAsTheCppModel) {
  const std::vector<std::byte> bytes = model_bytes();
  const Handle model(slimbayes_open_bytes(bytes.data(), bytes.size()));
  ASSERT_NE(model, nullptr) << slimbayes_error();
  const serve::Model same = serve::Model::open(bytes);
  EXPECT_STREQ(slimbayes_version(), version());
  EXPECT_EQ(slimbayes_describe(model.get()), same.describe());
  ASSERT_EQ(slimbayes_columns(model.get()), 5U);
  const std::vector<double> rows = {11, 1, 2, 1.64e9, 1e6, NAN, 0, 3, 1.65e9, 5e5};
  std::vector<slimbayes_answer> answers(2);
  answers[0].size = sizeof(slimbayes_answer);
  ASSERT_EQ(slimbayes_predict(model.get(), rows.data(), 2, 0.9, answers.data()), SLIMBAYES_OK)
      << slimbayes_error();
  for (size_t i = 0; i < 2; ++i) {
    const serve::Answer a = same.predict(std::span(rows).subspan(5 * i, 5), 0.9);
    EXPECT_EQ(answers[i].size, sizeof(slimbayes_answer));
    EXPECT_EQ(answers[i].mean, a.mean);
    EXPECT_EQ(answers[i].sd, a.sd);
    EXPECT_EQ(answers[i].sd_aleatoric, a.sd_aleatoric);
    EXPECT_EQ(answers[i].sd_epistemic, a.sd_epistemic);
    EXPECT_EQ(answers[i].lower, a.lower);
    EXPECT_EQ(answers[i].upper, a.upper);
  }
  const char* cells[] = {nullptr, "no", "violet", "2022-04-14", "500000"};
  std::vector<double> numbers(5);
  ASSERT_EQ(slimbayes_numbers(model.get(), cells, numbers.data()), SLIMBAYES_OK) << slimbayes_error();
  EXPECT_TRUE(std::isnan(numbers[0]));
  EXPECT_EQ(numbers[2], 3);
  slimbayes_answer one = {sizeof one, 0, 0, 0, 0, 0, 0}, by_numbers = one;
  ASSERT_EQ(slimbayes_predict_cells(model.get(), cells, 1, 0.9, &one), SLIMBAYES_OK);
  ASSERT_EQ(slimbayes_predict(model.get(), numbers.data(), 1, 0.9, &by_numbers), SLIMBAYES_OK);
  EXPECT_EQ(one.mean, by_numbers.mean);
  double lower = 0, beyond = 0, distance = 0;
  ASSERT_EQ(slimbayes_quantile(model.get(), numbers.data(), 0.05, &lower), SLIMBAYES_OK);
  EXPECT_NEAR(lower, one.lower, 1e-9);
  ASSERT_EQ(slimbayes_scores(model.get(), numbers.data(), &beyond, &distance), SLIMBAYES_OK);
  EXPECT_EQ(distance, same.scores(numbers).distance);
}

TEST(ServeC, AnswersClasses) {
  const std::vector<std::byte> bytes = model_bytes("grade");
  const Handle model(slimbayes_open_bytes(bytes.data(), bytes.size()));
  ASSERT_NE(model, nullptr) << slimbayes_error();
  const serve::Model same = serve::Model::open(bytes);
  ASSERT_EQ(slimbayes_classes(model.get()), 3U);
  EXPECT_EQ(slimbayes_classes(nullptr), 0U);
  const std::vector<double> rows = {11, 1, 2, 1.64e9, 1e6, NAN, 0, 3, 1.65e9, 5e5};
  std::vector<double> p(6), again(6), own(3);
  std::vector<slimbayes_class_answer> answers(2);
  answers[0].size = sizeof(slimbayes_class_answer);
  ASSERT_EQ(slimbayes_classify(model.get(), rows.data(), 2, p.data(), answers.data()), SLIMBAYES_OK)
      << slimbayes_error();
  ASSERT_EQ(slimbayes_classify(model.get(), rows.data(), 2, again.data(), nullptr), SLIMBAYES_OK);
  EXPECT_EQ(p, again);
  std::vector<unsigned char> set(3), set_of_cpp(3);
  for (size_t i = 0; i < 2; ++i) {
    const std::span<const double> row = std::span(rows).subspan(5 * i, 5);
    const serve::ClassAnswer a = same.classify(row, own);
    EXPECT_EQ(
        std::vector<double>(p.begin() + 3 * static_cast<int>(i), p.begin() + 3 * static_cast<int>(i) + 3),
        own);
    EXPECT_EQ(answers[i].label, a.label);
    EXPECT_EQ(answers[i].entropy, a.entropy);
    EXPECT_EQ(answers[i].mutual_information, a.mutual_information);
    ASSERT_EQ(slimbayes_prediction_set(model.get(), row.data(), 0.8, set.data()), SLIMBAYES_OK);
    same.prediction_set(row, 0.8, set_of_cpp);
    EXPECT_EQ(set, set_of_cpp);
  }
  slimbayes_answer number = {sizeof number, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(slimbayes_predict(model.get(), rows.data(), 1, 0.9, &number), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_NE(std::strstr(slimbayes_error(), "classify"), nullptr) << slimbayes_error();
  EXPECT_EQ(slimbayes_classify(model.get(), rows.data(), 1, nullptr, answers.data()), SLIMBAYES_BAD_ARGUMENT);
  answers[0].size = 0;
  EXPECT_EQ(slimbayes_classify(model.get(), rows.data(), 1, p.data(), answers.data()),
            SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_prediction_set(model.get(), nullptr, 0.8, set.data()), SLIMBAYES_BAD_ARGUMENT);
}

// A caller of an older version has a shorter struct.
TEST(ServeC, WritesNoMoreThanTheCallersStructHolds) {
  const std::vector<std::byte> bytes = model_bytes();
  const Handle model(slimbayes_open_bytes(bytes.data(), bytes.size()));
  struct Short {
    size_t size;
    double mean, sd;
  };
  const std::vector<double> rows = {11, 1, 2, 1.64e9, 1e6, 12, 0, 1, 1.65e9, 5e5};
  Short answers[3] = {{sizeof(Short), 0, 0}, {0, 0, 0}, {7, 8, 9}};
  ASSERT_EQ(slimbayes_predict(model.get(), rows.data(), 2, 0.9, reinterpret_cast<slimbayes_answer*>(answers)),
            SLIMBAYES_OK);
  EXPECT_GT(answers[0].mean, 0);
  EXPECT_GT(answers[1].sd, 0);
  EXPECT_EQ(answers[1].size, sizeof(Short));
  EXPECT_EQ(answers[2].size, 7U);
  EXPECT_EQ(answers[2].mean, 8);
}

TEST(ServeC, GivesAStatusAndASentenceForEachMistake) {
  const auto says = [](const char* part) { return std::strstr(slimbayes_error(), part) != nullptr; };
  EXPECT_EQ(slimbayes_open(nullptr), nullptr);
  EXPECT_TRUE(says("null pointer"));
  EXPECT_EQ(slimbayes_open("/no/such/model"), nullptr);
  EXPECT_TRUE(says("/no/such/model"));
  EXPECT_EQ(slimbayes_open_bytes("short", 5), nullptr);
  EXPECT_EQ(slimbayes_open_bytes(nullptr, 5), nullptr);
  const std::vector<std::byte> bytes = model_bytes();
  const Handle model(slimbayes_open_bytes(bytes.data(), bytes.size()));
  const std::vector<double> row = {11, 1, 2, 1.64e9, 1e6};
  slimbayes_answer out = {sizeof out, 0, 0, 0, 0, 0, 0}, unsized = {0, 0, 0, 0, 0, 0, 0};
  const char* cells[] = {"eleven", "1", "red", "2022-01-01", "1"};
  double number = 0;
  EXPECT_EQ(slimbayes_predict(nullptr, row.data(), 1, 0.9, &out), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_predict(model.get(), nullptr, 1, 0.9, &out), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_predict(model.get(), row.data(), 1, 0.9, nullptr), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_predict(model.get(), nullptr, 0, 0.9, nullptr), SLIMBAYES_OK);
  EXPECT_EQ(slimbayes_predict(model.get(), row.data(), 1, 0.9, &unsized), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_TRUE(says("size"));
  unsized.size = 1 << 20;  // never set
  EXPECT_EQ(slimbayes_predict(model.get(), row.data(), 1, 0.9, &unsized), SLIMBAYES_BAD_ARGUMENT);
  const std::vector<double> two = {11, 1, 2, 1.64e9, 1e6, 1e12, 1, 2, 1.64e9, 1e6};
  std::vector<slimbayes_answer> both(2);
  both[0].size = sizeof(slimbayes_answer);
  EXPECT_EQ(slimbayes_predict(model.get(), two.data(), 2, 0.9, both.data()), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(std::string(slimbayes_error()).find("row 2: expected a number within"), 0U) << slimbayes_error();
  EXPECT_GT(both[0].sd, 0);
  EXPECT_EQ(slimbayes_predict(model.get(), row.data(), 1, 1.5, &out), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_predict(model.get(), row.data(), 1, NAN, &out), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_predict_cells(model.get(), cells, 1, 0.9, &out), SLIMBAYES_BAD_DATA);
  EXPECT_TRUE(says("eleven") && says("'a'"));
  EXPECT_EQ(slimbayes_quantile(model.get(), row.data(), 0.5, nullptr), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_quantile(model.get(), row.data(), 0, &number), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_scores(nullptr, row.data(), &number, &number), SLIMBAYES_BAD_ARGUMENT);
  EXPECT_EQ(slimbayes_describe(nullptr), nullptr);
  EXPECT_EQ(slimbayes_columns(nullptr), 0U);
  slimbayes_close(nullptr);
}

}  // namespace
}  // namespace slimbayes
