#include "slimbayes/density/row_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "slimbayes/density/unit.h"

namespace slimbayes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A mixture with the moments of its components in one row.
struct Row {
  std::vector<ComponentShape> shapes;
  std::vector<RowMoments> warped;

  RowMixture mixture() const { return RowMixture(shapes); }
  std::vector<RowMixture::Part> parts() const {
    const RowMixture all = mixture();
    std::vector<RowMixture::Part> out;
    for (size_t k = 0; k < warped.size(); ++k) out.push_back(all.part(k, warped[k].mean, warped[k].var()));
    return out;
  }
  double sd() const {
    std::vector<RowMoments> targets;
    for (size_t k = 0; k < warped.size(); ++k) targets.push_back(target_moments(shapes[k], warped[k]));
    return std::sqrt(mixed_moments(shapes, targets).var());
  }
  double quantile(double z) const {
    const RowMixture all = mixture();
    return all.quantile(parts(), all.units(z), sd());
  }
  double score(double y) const { return mixture().normal_score(parts(), y); }
  double crps(double y) const {
    const RowMixture all = mixture();
    return all.crps(parts(), y, all.crps_ends());
  }
};

ComponentShape student(double weight, double dof) { return {weight, dof}; }
ComponentShape gaussian(double weight) { return {weight}; }
ComponentShape log_normal(double weight, double shift = 0, double scale = 1) {
  return {weight, kInfinity, TargetWarp::log, shift, scale};
}

/// A Gaussian, a Student-t distribution and a log-normal one above .5.
Row three() {
  return {{gaussian(0.3), student(0.5, 4), log_normal(0.2, 0.5)},
          {{1, 0.15, 0.10}, {-1, 1.5, 0.5}, {0.2, 0.4, 0.09}}};
}

// Reference values: scipy 1.17.1 (scipy.stats, scipy.integrate.quad, scipy.optimize.brentq), as those of
// tests/answers/density_test.cpp.
TEST(RowMixture, MatchesScipy) {
  const Row row = three();
  const RowMixture all = row.mixture();
  const double y[] = {-30, 0.8, 6}, nll[] = {15.05658209916488, 1.1572750115019002, 6.0535362569870115},
               score[] = {-4.600826376074121, 0.17969240285731333, 2.677707000786549},
               crps[] = {29.27419576324327, 0.41756795521469736, 4.8638392008315705};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(all.log_density(row.parts(), y[i]), -nll[i], 1e-12 * nll[i]);
    EXPECT_NEAR(row.score(y[i]), score[i], 1e-9);
    EXPECT_NEAR(row.crps(y[i]), crps[i], 1e-4);
  }
  EXPECT_NEAR(row.quantile(normal_quantile(0.975)), 3.3805200302768053, 1e-10);
  EXPECT_NEAR(row.quantile(0), 0.5210780680006953, 1e-10);
}

/// Mixtures that are hard for a root finder.
std::vector<Row> hard() {
  return {
      three(),
      {{gaussian(0.5), gaussian(0.5)}, {{0, 1, 0}, {1e-9, 1, 1e-9}}},          // nearly equal
      {{gaussian(0.5), gaussian(0.5)}, {{-1e4, 1e-4, 0}, {1e4, 1e-4, 0}}},     // far apart
      {{gaussian(1 - 1e-12), student(1e-12, 2.05)}, {{0, 1, 0}, {0, 25, 0}}},  // a tiny weight
      {{gaussian(0.97), student(0.03, 2.05)}, {{0, 1e-6, 0}, {0, 1e6, 1}}},    // a heavy tail
      {{student(0.4, 2.05), student(0.6, 400)}, {{0, 1, 0}, {3, 2, 0}}},       // dof small and large
      {{log_normal(0.5, -1, 2), gaussian(0.5)}, {{0.3, 0.2, 0.1}, {5, 0.3, 0}}},
      {{log_normal(0.999, 0, 3), gaussian(0.001)}, {{-2, 4, 1}, {30, 900, 0}}},
      {{gaussian(1.0 / 3), gaussian(1.0 / 3), gaussian(1.0 / 3)}, {{-8, 0.01, 0}, {0, 100, 0}, {8, 0.01, 0}}},
  };
}

/// Phi(normal_score(quantile(z))) = Phi(z): where the density is p, an error e of the quantile moves the
/// score by e p / phi(score).
TEST(RowMixture, QuantileInvertsTheNormalScoreWithinItsTolerance) {
  for (size_t i = 0; i < hard().size(); ++i) {
    const Row row = hard()[i];
    const RowMixture all = row.mixture();
    const double sd = row.sd();
    for (const double z : {-8.0, -5.0, -1.96, -0.3, 0.0, 1e-9, 0.7, 1.96, 4.0, 8.0}) {
      const double x = row.quantile(z), score = row.score(x);
      const double slope = std::exp(all.log_density(row.parts(), x) - student_log_density(score, kInfinity));
      const double error = 2e-12 * sd + 8 * std::numeric_limits<double>::epsilon() * std::abs(x);
      EXPECT_NEAR(score, z, slope * error + 1e-13 * (1 + std::abs(z))) << i << " at " << z;
    }
  }
}

TEST(RowMixture, QuantilesAscend) {
  for (const Row& row : hard()) {
    double before = -kInfinity;
    for (double z = -6; z <= 6; z += 0.25) {
      const double x = row.quantile(z);
      EXPECT_GE(x, before - 1e-12 * row.sd());
      before = x;
    }
  }
}

/// One Gaussian, and a mixture of two equal ones, have the quantiles mean + z sd, at any score.
TEST(RowMixture, EqualComponentsAreOne) {
  const Row one{{{1, kInfinity, TargetWarp::none, 2, 3}}, {{0.5, 0.2, 0.05}}},
      two{{{0.25, kInfinity, TargetWarp::none, 2, 3}, {0.75, kInfinity, TargetWarp::none, 2, 3}},
          {{0.5, 0.2, 0.05}, {0.5, 0.2, 0.05}}};
  for (const double z : {-30.0, -3.0, 0.0, 2.0, 30.0}) {
    const double x = 2 + 3 * (0.5 + 0.5 * z);
    EXPECT_NEAR(one.quantile(z), x, 1e-13 * (1 + std::abs(x)));
    EXPECT_NEAR(two.quantile(z), x, 1e-11 * (1 + std::abs(x)));
    EXPECT_NEAR(two.score(x), z, 1e-12 * (1 + std::abs(z)));
  }
  for (const double y : {-3.0, 4.0, 11.0}) {
    EXPECT_NEAR(two.mixture().log_density(two.parts(), y), one.mixture().log_density(one.parts(), y), 1e-13);
    EXPECT_NEAR(two.crps(y), one.crps(y), 1e-4 * one.sd());
  }
}

/// The score of a tail that a float64 cannot hold, and of a value outside the range of a log target.
TEST(RowMixture, ScoresAreFiniteFarOut) {
  const Row row{{gaussian(0.5), gaussian(0.5)}, {{0, 1, 0}, {0, 4, 0}}};
  EXPECT_NEAR(row.score(100), 50.01386, 1e-4);  // log Q(s) = log .5 + log Q(50): s = 50 + log(2) / 50
  EXPECT_EQ(row.score(-100), -row.score(100));
  const Row log_only{{log_normal(0.5), log_normal(0.5)}, {{0, 1, 0}, {1, 1, 0}}};
  EXPECT_EQ(log_only.score(-1), -1e6);
  EXPECT_EQ(log_only.mixture().log_density(log_only.parts(), -1), -kInfinity);
}

TEST(RowMixture, ANumberThatIsNoneStaysNone) {
  const Row row{{gaussian(0.5), gaussian(0.5)}, {{NAN, 1, 0}, {0, 4, 0}}};
  EXPECT_TRUE(std::isnan(row.mixture().log_density(row.parts(), 1)));
  EXPECT_TRUE(std::isnan(row.score(1)));
}

}  // namespace
}  // namespace slimbayes
