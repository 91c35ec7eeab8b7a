#include "slimbayes/answers/joint/joint_scores.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/answers/joint/energy_score.h"
#include "slimbayes/answers/joint/region.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/core/random.h"
#include "tests/answers/joint/correlations.h"

namespace slimbayes {
namespace {

/// The pieces of n rows of standard normal targets with this correlation.
JointPieces normal_pieces(const at::Tensor& correlation, int64_t n) {
  const int64_t k = correlation.size(0), draws = 50;
  const at::Tensor z = copula_scores(correlation, n, 1, Stream(1))[0];
  return {z, 0.5 * z.square() + 0.5 * std::log(2 * std::numbers::pi),
          copula_scores(correlation, n, draws, Stream(2)),
          copula_scores(at::eye(k, at::kDouble), n, draws, Stream(2)), z.clone()};
}

void hide(JointPieces& p, int64_t row, int64_t target) {
  for (const at::Tensor& x : {p.z, p.nll, p.y})
    x[row][target].fill_(std::numeric_limits<double>::quiet_NaN());
}

TEST(JointScores, OfCorrelatedTargets) {
  const at::Tensor matrix = equicorrelated(3, 0.9);
  JointPieces p = normal_pieces(matrix, 400);
  const JointEvaluation e = joint_evaluation(p, matrix, 0.9);
  const at::Tensor density = copula_row_log_density(p.z, matrix);
  EXPECT_EQ(e.n, 400);
  EXPECT_EQ(e.complete, 400);
  EXPECT_NEAR(e.nll_independent, p.nll.sum(1).mean().item<double>(), 1e-12);
  EXPECT_NEAR(e.nll_gain, density.mean().item<double>(), 1e-12);
  EXPECT_NEAR(e.nll_joint, e.nll_independent - e.nll_gain, 1e-12);
  EXPECT_NEAR(e.nll_gain_se.value(), density.std().item<double>() / 20, 1e-12);
  // The expectation of log c is the mutual information, -1/2 log|R|.
  const double information = -0.5 * std::log(0.1 * 0.1 * 2.8);
  EXPECT_NEAR(e.nll_gain, information, 4 * e.nll_gain_se.value());
  EXPECT_NEAR(e.energy, energy_row_score(p.draws, p.y).mean().item<double>(), 1e-12);
  EXPECT_NEAR(e.energy_gain, e.energy_independent - e.energy, 1e-12);
  EXPECT_GT(e.energy_gain, 2 * e.energy_gain_se.value());
  EXPECT_NEAR(e.region_coverage.value(), 0.9, 4 * 0.3 / 20);
  EXPECT_FALSE(e.region_volume);
  EXPECT_EQ(e.level, 0.9);
  EXPECT_EQ(e.lower, "joint");
}

TEST(JointScores, OfARegionWithBoundsAreThoseOfTheBox) {
  const at::Tensor matrix = equicorrelated(2, 0.6);
  JointPieces p = normal_pieces(matrix, 300);
  const double factor = region_factor(matrix, 0.9),
               share = joint_evaluation(p, matrix, 0.9).region_coverage.value();
  p.lower = at::full({300, 2}, -factor, at::kDouble);
  p.upper = -p.lower;
  const JointEvaluation e = joint_evaluation(p, matrix, 0.9);
  EXPECT_EQ(e.region_coverage.value(), share);  // the targets are their own normal scores
  EXPECT_LT(share, 1);
  EXPECT_NEAR(e.region_volume.value(), 4 * factor * factor, 1e-12);
  p.upper[0][1].fill_(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(joint_evaluation(p, matrix, 0.9).region_volume);
}

TEST(JointScores, ACountAtAnEndOfItsRangeLiesInTheRegion) {
  // Rows of a number and a count, the latter in 2 to 5: the drawn scores of the counts 2 and 5 lie beyond
  // the factor.
  const at::Tensor matrix = equicorrelated(2, 0.3);
  JointPieces p = normal_pieces(matrix, 3);
  const double factor = 2;
  p.z = at::tensor({0.1, -2.4, 0.2, 2.3, -0.3, -2.6}, at::kDouble).reshape({3, 2});
  p.y = at::tensor({0.1, 2.0, 0.2, 5.0, -0.3, 1.0}, at::kDouble).reshape({3, 2});
  EXPECT_EQ(joint_evaluation(p, matrix, 0.9, factor).region_coverage.value(), 0);
  p.lower = at::tensor({-2.0, 2.0}, at::kDouble).expand({3, 2});
  p.upper = at::tensor({2.0, 5.0}, at::kDouble).expand({3, 2});
  const JointEvaluation e = joint_evaluation(p, matrix, 0.9, factor);
  EXPECT_NEAR(e.region_coverage.value(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(e.region_volume.value(), 12, 1e-12);
}

TEST(JointScores, PreferIndependentAnswersToAWrongCorrelation) {
  const JointEvaluation e =
      joint_evaluation(normal_pieces(equicorrelated(2, 0.8), 200), equicorrelated(2, -0.8), 0.9);
  EXPECT_LT(e.nll_gain, 0);
  EXPECT_EQ(e.lower, "independent");
}

TEST(JointScores, LeaveOutUnknownTargets) {
  const at::Tensor matrix = equicorrelated(2, 0.6);
  JointPieces p = normal_pieces(matrix, 5);
  hide(p, 1, 0);
  hide(p, 3, 0);
  hide(p, 3, 1);
  const JointEvaluation e = joint_evaluation(p, matrix, 0.9, 100);
  EXPECT_EQ(e.n, 4);
  EXPECT_EQ(e.complete, 3);
  EXPECT_EQ(e.region_coverage.value(), 1);
  EXPECT_NEAR(e.nll_independent, p.nll.nansum().item<double>() / 4, 1e-12);
  EXPECT_EQ(joint_evaluation(p, matrix, 0.9, 0).region_coverage.value(), 0);
  JointPieces one = normal_pieces(matrix, 1);
  hide(one, 0, 1);
  const nlohmann::json said = fields_to_json(joint_evaluation(one, matrix, 0.9));
  EXPECT_FALSE(said.contains("nll_gain_se"));
  EXPECT_FALSE(said.contains("region_coverage"));
  EXPECT_EQ(said["nll_joint"], said["nll_independent"]);
  hide(one, 0, 0);
  EXPECT_THROW(joint_evaluation(one, matrix, 0.9), std::invalid_argument);
}

TEST(JointScores, HaveAGainWhereATargetHasNoDensity) {
  const at::Tensor matrix = equicorrelated(2, 0.6);
  JointPieces p = normal_pieces(matrix, 5);
  p.z[2][0].fill_(-std::numeric_limits<double>::infinity());
  p.nll[2][0].fill_(std::numeric_limits<double>::infinity());
  const JointEvaluation e = joint_evaluation(p, matrix, 0.9);
  EXPECT_TRUE(std::isinf(e.nll_joint));
  EXPECT_TRUE(std::isfinite(e.nll_gain));
}

TEST(JointScores, RefusePiecesThatDisagree) {
  const at::Tensor matrix = equicorrelated(2, 0.6);
  JointPieces p = normal_pieces(matrix, 5);
  p.nll[0][1].fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(joint_evaluation(p, matrix, 0.9), std::invalid_argument);
  p = normal_pieces(matrix, 5);
  EXPECT_THROW(joint_evaluation(p, matrix, 0.9, -1), std::invalid_argument);
  p.lower = at::zeros({5, 2}, at::kDouble);
  EXPECT_THROW(joint_evaluation(p, matrix, 0.9), std::invalid_argument);
  p.upper = -at::ones({5, 2}, at::kDouble);
  EXPECT_THROW(joint_evaluation(p, matrix, 0.9), std::invalid_argument);
  p = normal_pieces(matrix, 5);
  p.draws = p.draws.narrow(0, 0, 10);
  EXPECT_THROW(joint_evaluation(p, matrix, 0.9), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
