#include "slimbayes/core/student.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Reference values: scipy 1.17.1 (scipy.stats.t, scipy.integrate.quad for the CRPS).
TEST(Student, MatchesScipy) {
  EXPECT_NEAR(student_log_density(row({1.7}), 2.5).item<double>(), -2.361085236292264, 1e-13);
  EXPECT_NEAR(student_log_density(row({1.7}), 30).item<double>(), -2.3528251427304063, 1e-13);
  EXPECT_NEAR(student_cdf(row({-12}), 2.5).item<double>() / 0.0014181075150391622, 1, 1e-11);
  EXPECT_NEAR(student_cdf(row({-12}), 30).item<double>() / 2.7900927075996303e-13, 1, 1e-10);
  EXPECT_NEAR(student_quantile(0.975, 5), 2.5705818356363146, 1e-11);
  EXPECT_NEAR(student_unit_crps(row({1.7}), 5).item<double>(), 1.1343364583786424, 1e-9);
  EXPECT_NEAR(student_unit_crps(row({-4}), 2.5).item<double>(), 3.192840565562191, 1e-9);
}

TEST(Student, InfinitelyManyDegreesOfFreedomAreTheNormalDistribution) {
  const at::Tensor z = row({-3, 0, 1.5, 4});
  EXPECT_TRUE(at::allclose(student_cdf(z, kInfinity), student_cdf(z, 1e7), 1e-4));
  EXPECT_TRUE(at::allclose(student_log_density(z, kInfinity), student_log_density(z, 1e7), 1e-4));
  EXPECT_TRUE(at::allclose(student_unit_crps(z, kInfinity), student_unit_crps(z, 1e7), 1e-4));
  EXPECT_NEAR(student_quantile(0.9, kInfinity), student_quantile(0.9, 1e7), 1e-6);
}

TEST(Student, CdfEnds) {
  const at::Tensor ends = student_cdf(row({-kInfinity, kInfinity, NAN}), 4);
  EXPECT_EQ(ends[0].item<double>(), 0);
  EXPECT_EQ(ends[1].item<double>(), 1);
  EXPECT_TRUE(std::isnan(ends[2].item<double>()));
  EXPECT_THROW(student_cdf(row({0}), 0), std::invalid_argument);
  EXPECT_THROW(student_unit_crps(row({0}), 1), std::invalid_argument);
  EXPECT_THROW(student_quantile(1, 4), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
