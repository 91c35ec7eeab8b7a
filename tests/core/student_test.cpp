#include "slimbayes/core/student.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Reference values: scipy 1.17.1 (scipy.stats.t).
TEST(Student, MatchesScipy) {
  EXPECT_NEAR(student_log_density(row({1.7}), 2.5).item<double>(), -2.361085236292264, 1e-13);
  EXPECT_NEAR(student_log_density(row({1.7}), 30).item<double>(), -2.3528251427304063, 1e-13);
  EXPECT_EQ(student_log_density(row({1.7}), 4).item<double>(), student_log_density(1.7, 4));
}

TEST(Student, InfinitelyManyDegreesOfFreedomAreTheNormalDistribution) {
  const at::Tensor z = row({-3, 0, 1.5, 4});
  EXPECT_TRUE(at::allclose(student_log_density(z, kInfinity), student_log_density(z, 1e7), 1e-4));
  EXPECT_THROW(student_log_density(z, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
