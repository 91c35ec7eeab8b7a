#include "slimbayes/density/unit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace slimbayes {
namespace {

// References by mpmath with 50 digits.
TEST(LogNormalCdf, KeepsItsDigitsInBothTails) {
  EXPECT_NEAR(log_normal_cdf(0), -0.693147180559945309, 1e-15);
  EXPECT_NEAR(log_normal_cdf(-1), -1.84102164500926368, 2e-15);
  EXPECT_NEAR(log_normal_cdf(-30), -454.321243956343197, 1e-12);
  EXPECT_NEAR(log_normal_cdf(-1e5) / -5000000012.4318639983, 1, 1e-15);
  EXPECT_NEAR(log_normal_cdf(8) / -6.22096057427178605e-16, 1, 1e-14);
}

TEST(ScaledErfc, IsContinuousWhereTheSeriesBegins) {
  EXPECT_NEAR(scaled_erfc(0), 1, 1e-16);
  EXPECT_NEAR(scaled_erfc(1) / 0.427583576155807004, 1, 1e-14);
  EXPECT_NEAR(scaled_erfc(19.999999999) / scaled_erfc(20.000000001) - 1, 2e-9 / 20, 1e-12);
  EXPECT_NEAR(scaled_erfc(1e8) * 1e8, 0.564189583547756287, 1e-15);
}

TEST(NormalQuantile, MatchesExtendedPrecision) {
  // Reference values: sqrt(2) erfinv(2p - 1) of the double p, by mpmath 1.3 with 60 to 400 digits.
  const std::pair<double, double> known[] = {{1e-300, -37.047096299361199237},
                                             {1e-100, -21.273453560965324294},
                                             {1e-20, -9.2623400897984075796},
                                             {1e-9, -5.9978070150076868614},
                                             {0.001, -3.0902323061678135354},
                                             {0.1, -1.2815515655446004353},
                                             {0.25, -0.6744897501960817432},
                                             {0.3, -0.52440051270804081597},
                                             {0.499999999, -2.5066283428845326712e-9},
                                             {0.5000001, 2.5066282733116483012e-7},
                                             {0.6, 0.25334710313579974132},
                                             {0.75, 0.6744897501960817432},
                                             {0.9, 1.2815515655446005935},
                                             {0.975, 1.9599639845400538556},
                                             {0.999999, 4.7534243088170877657}};
  for (auto [p, x] : known) EXPECT_NEAR(normal_quantile(p), x, 1e-12 * std::abs(x)) << p;
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(NormalQuantile, InvertsTheDistribution) {
  for (int i = 1; i < 1000; ++i) {
    double p = i / 1000.0;
    EXPECT_NEAR(std::erfc(-normal_quantile(p) / std::sqrt(2)) / 2, p, 1e-14);
    EXPECT_NEAR(normal_quantile(p), -normal_quantile(1 - p), 1e-12);
  }
  for (double p : {0.0, 1.0, -0.1, 1.1, std::nan("")})
    EXPECT_THROW(normal_quantile(p), std::invalid_argument);
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Reference values: scipy 1.17.1 (scipy.stats.t, scipy.integrate.quad for the CRPS).
TEST(StudentUnit, MatchesScipy) {
  EXPECT_NEAR(student_log_density(1.7, 2.5), -2.361085236292264, 1e-13);
  EXPECT_NEAR(student_log_density(1.7, 30), -2.3528251427304063, 1e-13);
  EXPECT_NEAR(student_cdf(-12, 2.5) / 0.0014181075150391622, 1, 1e-11);
  EXPECT_NEAR(student_cdf(-12, 30) / 2.7900927075996303e-13, 1, 1e-10);
  EXPECT_NEAR(student_quantile(0.975, 5), 2.5705818356363146, 1e-11);
  EXPECT_NEAR(student_quantile_at(normal_quantile(0.975), 5), 2.5705818356363146, 1e-10);
  EXPECT_NEAR(student_unit_crps(1.7, 5), 1.1343364583786424, 1e-9);
  EXPECT_NEAR(student_unit_crps(-4, 2.5), 3.192840565562191, 1e-9);
}

TEST(StudentUnit, InfinitelyManyDegreesOfFreedomAreTheNormalDistribution) {
  for (const double z : {-3.0, 0.0, 1.5, 4.0}) {
    EXPECT_NEAR(student_cdf(z, kInfinite), student_cdf(z, 1e7), 1e-4);
    EXPECT_NEAR(student_log_density(z, kInfinite), student_log_density(z, 1e7), 1e-4);
    EXPECT_NEAR(student_unit_crps(z, kInfinite), student_unit_crps(z, 1e7), 1e-4);
    EXPECT_EQ(student_quantile_at(z, kInfinite), z);
  }
  EXPECT_NEAR(student_quantile(0.9, kInfinite), student_quantile(0.9, 1e7), 1e-6);
}

TEST(StudentUnit, CdfEnds) {
  EXPECT_EQ(student_cdf(-kInfinite, 4), 0);
  EXPECT_EQ(student_cdf(kInfinite, 4), 1);
  EXPECT_TRUE(std::isnan(student_cdf(NAN, 4)));
  EXPECT_THROW(student_unit_crps(0, 1), std::invalid_argument);
  EXPECT_THROW(student_quantile(1, 4), std::invalid_argument);
  EXPECT_THROW(student_quantile(0.5, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
