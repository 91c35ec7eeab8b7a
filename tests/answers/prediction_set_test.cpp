#include "slimbayes/answers/prediction_set.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

at::Tensor row(const std::vector<double>& x) { return at::tensor(x, at::kDouble); }

Classes classes(const at::Tensor& probabilities) {
  const at::Tensor none = at::zeros({probabilities.size(0)}, at::kDouble);
  return {probabilities, none, none};
}

TEST(PredictionSet, ScoresAddUpTheMoreProbableClasses) {
  const Classes p = classes(row({0.2, 0.5, 0.3}).unsqueeze(0).expand({3, 3}));
  const at::Tensor scores = set_scores(p, row({0, 1, 2}), row({0.5, 0.5, 0}));
  EXPECT_TRUE(at::allclose(scores, row({0.8 + 0.1, 0.25, 0.5}), 0, 1e-15));
}

TEST(PredictionSet, OfEqualsTheFirstIsTheMoreProbable) {
  const Classes p = classes(row({0.5, 0.5}).unsqueeze(0).expand({2, 2}));
  EXPECT_TRUE(at::equal(set_scores(p, row({0, 1}), row({0.5, 0.5})), row({0.25, 0.75})));
}

TEST(PredictionSet, RandomisesARowByItsInputsAlone) {
  const at::Tensor x = Stream(1).normal({1000, 3}), u = row_uniforms(x);
  EXPECT_TRUE(at::equal(row_uniforms(x.flip(0)), u.flip(0)));
  EXPECT_TRUE(at::equal(row_uniforms(x.narrow(0, 7, 1)), u.narrow(0, 7, 1)));
  EXPECT_TRUE(at::equal(row_uniforms(row({0.0}).unsqueeze(0)), row_uniforms(row({-0.0}).unsqueeze(0))));
  // Kolmogorov-Smirnov test of uniformity: the largest difference of the distribution functions, 1 % bound.
  const at::Tensor sorted = std::get<0>(u.sort()), ranks = (at::arange(1000, at::kDouble) + 0.5) / 1000;
  EXPECT_LT((sorted - ranks).abs().max().item<double>(), 1.63 / std::sqrt(1000.0));
}

/// Rows of four classes. The model's logits have sd 2; the labels come from logits that are `sharper` times
/// as large.
struct Sample {
  Classes p;
  at::Tensor y, u;

  Sample(int64_t n, double sharper, const Stream& stream) {
    const at::Tensor logits = 2 * stream.split("f").normal({n, 4});
    const at::Tensor gumbel = -at::log(-at::log(stream.split("y").uniform({n, 4})));
    y = (sharper * logits + gumbel).argmax(1);
    p = classes_of_logits(logits);
    u = row_uniforms(logits);
  }
};

TEST(PredictionSet, HoldsItsLevelWhateverTheModel) {
  for (double sharper : {0.3, 1.0, 3.0}) {
    for (double level : {0.5, 0.9, 0.99}) {
      const Sample calibration(4000, sharper, Stream(3)), fresh(20000, sharper, Stream(4));
      const ConformalScores scores(
          std::get<0>(set_scores(calibration.p, calibration.y, calibration.u).sort()));
      const auto report = set_report(prediction_set(fresh.p, fresh.u, scores, level), fresh.y);
      // The sd of the coverage with 4,000 calibration rows and 20,000 fresh rows; the tolerance is five sds.
      const double sd = std::sqrt(level * (1 - level) * (1.0 / 4000 + 1.0 / 20000));
      EXPECT_NEAR(report.coverage, level, 5 * sd) << sharper << " " << level;
    }
  }
}

TEST(PredictionSet, DeterministicSetsHoldEveryRandomisedOne) {
  for (double sharper : {0.3, 1.0, 10.0}) {
    const Sample calibration(2000, sharper, Stream(3)), fresh(20000, sharper, Stream(4));
    const ConformalScores scores(std::get<0>(set_scores(calibration.p, calibration.y, calibration.u).sort()));
    const PredictionSet set = deterministic_set(fresh.p, scores, 0.8);
    for (const at::Tensor& u : {fresh.u, at::zeros_like(fresh.u), at::ones_like(fresh.u)})
      EXPECT_TRUE((prediction_set(fresh.p, u, scores, 0.8) <= set).all().item<bool>()) << sharper;
    const auto report = set_report(set, fresh.y);
    const double sd = std::sqrt(0.8 * 0.2 * (1.0 / 2000 + 1.0 / 20000));
    EXPECT_GT(report.coverage, 0.8 - 5 * sd) << sharper;
    EXPECT_EQ(report.empty, 0) << sharper;
    // No class more than a small u gives: the set is the union of the randomised ones.
    const at::Tensor widest = prediction_set(fresh.p, at::full({20000}, 1e-12, at::kDouble), scores, 0.8);
    EXPECT_TRUE(at::equal(widest, set)) << sharper;
  }
}

TEST(PredictionSet, ASureModelMayAnswerWithNoClass) {
  const Sample calibration(2000, 10, Stream(3)), fresh(2000, 10, Stream(4));
  const ConformalScores scores(std::get<0>(set_scores(calibration.p, calibration.y, calibration.u).sort()));
  const auto report = set_report(prediction_set(fresh.p, fresh.u, scores, 0.5), fresh.y);
  EXPECT_GT(report.empty, 0.1);
  EXPECT_LT(report.size, 1);
}

TEST(PredictionSet, RefusesWhatIsNoClass) {
  const Classes p = classes(row({0.4, 0.6}).unsqueeze(0));
  EXPECT_THROW(set_scores(p, row({2}), row({0.5})), std::invalid_argument);
  EXPECT_THROW(set_scores(p, row({0, 1}), row({0.5})), std::invalid_argument);
  const ConformalScores three(row({0.1, 0.2, 0.3}));
  EXPECT_THROW(prediction_set(p, row({0.5}), three, 0.9), std::invalid_argument);  // too few scores
}

}  // namespace
}  // namespace slimbayes
