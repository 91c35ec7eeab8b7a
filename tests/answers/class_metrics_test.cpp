#include "slimbayes/answers/class_metrics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/ranking.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

Classes answer(const at::Tensor& p) { return {p, at::zeros({p.size(0)}), at::zeros({p.size(0)})}; }

/// Returns answers of two classes; p [n] is the probability of the second class.
Classes binary(const at::Tensor& p) { return answer(at::stack({1 - p, p}, 1)); }

const Classes kFiveClasses =
    answer(row({.7, .2, .1, .1, .6, .3, .3, .3, .4, .05, .9, .05, .25, .5, .25}).reshape({5, 3}));
const at::Tensor kLabels = row({0, 1, 0, 1, 2});

/// The metrics, of classes with the names "0", "1", ...
Evaluation scores_of(const Classes& p, const at::Tensor& y) {
  std::vector<std::string> levels;
  for (int64_t c = 0; c < p.probabilities.size(1); ++c) levels.push_back(std::to_string(c));
  return classes_report(p, y, levels);
}

TEST(ClassMetrics, MatchScikitLearn) {
  // Reference values: scikit-learn 1.9.1, accuracy_score, log_loss, brier_score_loss(scale_by_half=False).
  EXPECT_DOUBLE_EQ(accuracy(kFiveClasses, kLabels), 0.6);
  EXPECT_NEAR(class_nll(kFiveClasses, kLabels), 0.7126256497616753, 1e-15);
  EXPECT_NEAR(brier(kFiveClasses, kLabels), 0.406, 1e-15);
}

TEST(ClassMetrics, ConfusionAndF1MatchScikitLearn) {
  // Reference values: scikit-learn 1.9.1, confusion_matrix and f1_score of the predicted classes 0 1 2 1 1.
  at::Tensor counts = confusion(kFiveClasses, kLabels);
  at::Tensor expected = at::tensor({1, 0, 1, 0, 2, 0, 0, 1, 0}, at::TensorOptions().dtype(at::kLong));
  EXPECT_TRUE(at::equal(counts, expected.reshape({3, 3})));
  EXPECT_TRUE(at::allclose(f1_scores(counts), row({2 / 3., 0.8, 0})));
  const ClassScores report = scores_of(kFiveClasses, kLabels).classes.value();
  EXPECT_NEAR(report.f1_macro, 0.48888888888888893, 1e-15);
  EXPECT_EQ(report.confusion, (std::vector<std::vector<int64_t>>{{1, 0, 1}, {0, 2, 0}, {0, 1, 0}}));
  EXPECT_DOUBLE_EQ(report.base_rate, 0.4);
  EXPECT_EQ(report.base_class, "0");  // the first of two equally frequent classes
  EXPECT_FALSE(report.f1);
}

TEST(ClassMetrics, F1LeavesOutAClassThatIsNowhere) {
  const Evaluation three = scores_of(answer(row({.9, .1, 0, .2, .8, 0}).reshape({2, 3})), row({0, 0}));
  EXPECT_DOUBLE_EQ(three.classes.value().f1_macro,
                   1 / 3.);  // 2/3 and 0; the third class is neither true nor predicted
  const Evaluation two = scores_of(binary(row({0.1, 0.8, 0.9, 0.2})), row({0, 1, 0, 1}));
  EXPECT_DOUBLE_EQ(two.classes.value().f1.value(),
                   0.5);  // F1 of the second class: one hit, one miss, one false alarm
  EXPECT_FALSE(scores_of(binary(row({0.1, 0.2})), row({0, 0})).classes.value().f1);
}

TEST(ClassMetrics, ByHand) {
  Classes p = binary(row({0.75, 0.25, 0.5}));
  at::Tensor y = row({1, 1, 0});  // row 3 has equal probabilities: the first class is predicted
  EXPECT_DOUBLE_EQ(accuracy(p, y), 2 / 3.);
  EXPECT_NEAR(class_nll(p, y), -(std::log(0.75) + std::log(0.25) + std::log(0.5)) / 3, 1e-15);
  EXPECT_NEAR(brier(p, y), (2 * 0.0625 + 2 * 0.5625 + 2 * 0.25) / 3, 1e-15);
  EXPECT_NEAR(class_nll(binary(row({0})), row({1})), 708.396, 1e-3);  // a probability of 0 has a finite NLL
}

TEST(ClassMetrics, CalibrationErrorByHand) {
  // The confidences are .9 .9 .8 .6, the answers right 1 0 1 0. Two bins of equal mass: {.6, .8}, {.9, .9}.
  Classes p = binary(row({0.9, 0.9, 0.8, 0.6}));
  at::Tensor y = row({1, 0, 1, 0});
  CalibrationError mass = calibration_error(p, y, Bins::equal_mass, 2);
  EXPECT_NEAR(mass.expected, 0.5 * std::abs(0.5 - 0.7) + 0.5 * std::abs(0.5 - 0.9), 1e-15);
  EXPECT_NEAR(mass.maximum, 0.4, 1e-15);
  // Five bins of equal width: (.4, .6] holds the last row, (.6, .8] the third, (.8, 1] the first two.
  CalibrationError width = calibration_error(p, y, Bins::equal_width, 5);
  EXPECT_NEAR(width.expected, 0.25 * 0.6 + 0.25 * 0.2 + 0.5 * 0.4, 1e-15);
  EXPECT_NEAR(width.maximum, 0.6, 1e-15);
  // A certain and correct answer has no error. Rows of equal confidence share a bin in any row order.
  EXPECT_EQ(calibration_error(binary(row({1, 0})), row({1, 0})).expected, 0);
  Classes flat = binary(at::full({30}, 0.7, at::kDouble));
  at::Tensor mixed = at::cat({at::ones({21}), at::zeros({9})});
  EXPECT_NEAR(calibration_error(flat, mixed).maximum, 0, 1e-14);
  EXPECT_NEAR(calibration_error(flat, mixed.flip(0)).maximum, 0, 1e-14);
}

TEST(ClassMetrics, ReliabilityByHand) {
  // The confidences are .9 .9 .8 .6, the answers right 1 0 1 0.
  Classes p = binary(row({0.9, 0.9, 0.8, 0.6}));
  Reliability r = reliability(p, row({1, 0, 1, 0}), Bins::equal_mass, 2);
  EXPECT_TRUE(at::allclose(r.confidence, row({0.7, 0.9})));
  EXPECT_TRUE(at::equal(r.accuracy, row({0.5, 0.5})));
  EXPECT_EQ(r.rows.sum().item<int64_t>(), 4);
  // Of five bins of equal width, the two up to .4 are empty and left out.
  Reliability width = reliability(p, row({1, 0, 1, 0}), Bins::equal_width, 5);
  EXPECT_TRUE(at::allclose(width.confidence, row({0.6, 0.8, 0.9})));
  EXPECT_TRUE(at::equal(width.accuracy, row({0, 1, 0.5})));
  EXPECT_TRUE(at::equal(width.rows.to(at::kDouble), row({1, 1, 2})));
  EXPECT_THROW(reliability(p, row({1, 0, 1, 0}), Bins::equal_mass, 0), std::invalid_argument);
}

TEST(ClassMetrics, ErrorsFoundByUncertaintyByHand) {
  Classes p = binary(row({0.9, 0.8, 0.7, 0.6}));
  const Scores scores = {{"s", row({1, 2, 2, 3})}, {"constant", row({5, 5, 5, 5})}};
  ErrorsReport r = errors_report(p, row({1, 1, 0, 0}), scores);  // rows 3 and 4 are wrong
  EXPECT_EQ(r.wrong, 2);
  EXPECT_DOUBLE_EQ(r.rate, 0.5);
  // Wrong rows from the highest score: 3 at precision 1; 2, tied with a right row, at 2 of 3.
  EXPECT_DOUBLE_EQ(r.aupr_err.value()["s"], 0.5 + 0.5 * 2 / 3);
  EXPECT_DOUBLE_EQ(r.aupr_succ.value()["s"], 0.5 + 0.5 * 2 / 3);
  EXPECT_DOUBLE_EQ(r.aupr_err.value()["constant"], 0.5);
  ErrorsReport one = errors_report(p, row({1, 1, 1, 0}), scores);
  EXPECT_DOUBLE_EQ(one.aupr_err.value()["constant"], 0.25);
  EXPECT_DOUBLE_EQ(one.aupr_succ.value()["constant"], 0.75);
  for (const at::Tensor& y : {row({1, 1, 1, 1}), row({0, 0, 0, 0})}) {
    ErrorsReport none = errors_report(p, y, scores);
    EXPECT_FALSE(none.aupr_err || none.aupr_succ);
    EXPECT_EQ(none.absent.value_or(""), none.wrong == 0 ? "no row is wrong" : "no row is right");
  }
  EXPECT_THROW(errors_report(p, row({1, 1, 1, 0}), {{"s", row({1, 2})}}), std::invalid_argument);
}

TEST(ClassMetrics, ACalibratedAnswerHasASmallError) {
  at::Tensor p = Stream(1).uniform({200'000}), y = (Stream(2).uniform({200'000}) < p).to(at::kDouble);
  for (Bins kind : {Bins::equal_mass, Bins::equal_width}) {
    for (int64_t bins : {10, 15, 20, 30})
      EXPECT_LT(calibration_error(binary(p), y, kind, bins).expected, 0.005);
    at::Tensor bold = at::sigmoid(3 * at::log(p / (1 - p)));
    EXPECT_GT(calibration_error(binary(bold), y, kind).expected, 0.08);
  }
}

TEST(ClassMetrics, ReportHoldsTheContractsKeys) {
  nlohmann::json many = fields_to_json(scores_of(kFiveClasses, kLabels));
  EXPECT_EQ(many["n"], 5);
  for (const char* key : {"accuracy", "nll", "brier", "ece", "mce", "ece_width"})
    EXPECT_TRUE(many.contains(key));
  for (int64_t bins : {10, 20, 30}) {
    const auto ece = [&](Bins kind) { return calibration_error(kFiveClasses, kLabels, kind, bins).expected; };
    EXPECT_EQ(many["ece_" + std::to_string(bins)], ece(Bins::equal_mass));
    EXPECT_EQ(many["ece_width_" + std::to_string(bins)], ece(Bins::equal_width));
  }
  EXPECT_FALSE(many.contains("auroc"));
  at::Tensor p = row({0.1, 0.4, 0.35, 0.8});
  nlohmann::json two = fields_to_json(scores_of(binary(p), row({0, 0, 1, 1})));
  EXPECT_DOUBLE_EQ(two["auroc"], 0.75);
  EXPECT_DOUBLE_EQ(two["aupr"], average_precision(row({0.1, 0.4}), row({0.35, 0.8})));
  nlohmann::json one = fields_to_json(scores_of(binary(p), row({1, 1, 1, 1})));
  EXPECT_FALSE(one.contains("auroc"));
  EXPECT_FALSE(one.contains("nll_constant"));
  // An answer that equals the share of each class is the constant answer.
  at::Tensor label = row({0, 1, 1, 1});
  nlohmann::json shares = fields_to_json(scores_of(binary(at::full({4}, 0.75, at::kDouble)), label));
  EXPECT_NEAR(shares["nll_constant"], shares["nll"], 1e-12);
}

TEST(ClassMetrics, BadInputIsNamed) {
  EXPECT_THROW(accuracy(kFiveClasses, row({0, 1})), std::invalid_argument);
  EXPECT_THROW(accuracy(kFiveClasses, row({0, 1, 2, 3, 0})), std::invalid_argument);
  EXPECT_THROW(brier(kFiveClasses, row({0, 1, 2, 0.5, 0})), std::invalid_argument);
  EXPECT_THROW(classes_report(kFiveClasses, kLabels, {"a", "b"}), std::invalid_argument);
  EXPECT_THROW(class_nll(answer(at::zeros({0, 3}, at::kDouble)), row({})), std::invalid_argument);
  EXPECT_THROW(calibration_error(kFiveClasses, kLabels, Bins::equal_mass, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
