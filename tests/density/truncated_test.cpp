#include "slimbayes/density/truncated.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "slimbayes/density/unit.h"

namespace slimbayes {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

/// The relative error, and the absolute one where the reference is 0.
double error(double got, double reference) {
  return std::abs(got - reference) / (reference == 0 ? 1 : std::abs(reference));
}

struct NormalCase {
  double a, b, log_prob, mean, excess;
};

// References by mpmath 1.4.1 with 400 digits, of the doubles a and b: tests/answers/survival_reference.py.
constexpr NormalCase kNormalCases[] = {
    {40, kFar, -804.60844201375379, 40.024968847207264, 1600.9987538882905},
    {40, 41, -804.60844201375379, 40.024968847207264, 1600.9987538882905},
    {40, 40 + 0x1p-20, -814.78190121782943, 40.000000476834127, 1599.0000381467304},
    {-kFar, -40, -804.60844201375379, -40.024968847207264, 1600.9987538882905},
    {-kFar, 8, -6.220960574271786e-16, -5.0522710835368958e-15, -4.0418168668295166e-14},
    {2, kFar, -3.7831843336820319, 2.3732155328228409, 4.7464310656456817},
    {-1, kFar, -0.17275377902344989, 0.28759997093917836, -0.28759997093917836},
    {-0.5, 0.5, -0.95991633369562232, 0, -0.9194108453991883},
    {-1, 3, -0.17435952045297591, 0.28278611072715401, -0.3038902802219805},
    {-0.5, 0.53125, -0.93181133850608804, 0.014288726035320151, -0.91427499093114943},
    {3, 3 + 0x1p-30, -26.213353951400016, 3.0000000004656613, 8.0000000027939677},
    {300, kFar, -45006.622732118663, 300.00333325926337, 90000.999977779012},
    {-60, -59, -1745.4967630448585, -59.016939428406251, 3481.9994262759688},
    {20, 20.125, -204.00156229501799, 20.038771074688084, 400.55332210049024}};

TEST(TruncatedNormal, MatchesExtendedPrecisionInTheTailsAndInNarrowIntervals) {
  for (const NormalCase& c : kNormalCases) {
    const TruncatedNormal got = truncated_normal(c.a, c.b, c.b - c.a);
    EXPECT_LT(error(got.log_prob, c.log_prob), 1e-12) << c.a << " " << c.b;
    EXPECT_LT(error(got.mean, c.mean), 1e-12) << c.a << " " << c.b;
    EXPECT_LT(error(got.excess, c.excess), 1e-12) << c.a << " " << c.b;
  }
}

TEST(TruncatedNormal, IsSymmetric) {
  for (const NormalCase& c : kNormalCases) {
    const TruncatedNormal one = truncated_normal(c.a, c.b, c.b - c.a),
                          other = truncated_normal(-c.b, -c.a, c.b - c.a);
    EXPECT_DOUBLE_EQ(one.log_prob, other.log_prob);
    EXPECT_DOUBLE_EQ(one.mean, -other.mean);
    EXPECT_DOUBLE_EQ(one.excess, other.excess);
  }
}

TEST(TruncatedNormal, OneBoundIsTheCdf) {
  for (const double z : {-50.0, -3.0, -0.5, 0.0, 0.5, 4.0})
    EXPECT_LT(error(truncated_normal(-kFar, z, kFar).log_prob, log_normal_cdf(z)), 1e-13) << z;
}

// The cases of the computation meet without a step. The arguments differ by about 1e-9, and so may the
// results.
TEST(TruncatedNormal, ItsCasesAgreeWhereTheyMeet) {
  const auto near = [](double a, double width, double other) {
    const TruncatedNormal one = truncated_normal(a, a + width, width),
                          two = truncated_normal(a, a + other, other);
    EXPECT_NEAR(one.log_prob, two.log_prob, 1e-8) << a;
    EXPECT_NEAR(one.mean, two.mean, 1e-8) << a;
    EXPECT_NEAR(one.excess, two.excess, 1e-7) << a;
  };
  near(0.25, 1 - 1e-10, 1 + 1e-10);                 // narrow and a tail
  near(-0.375, 1 - 1e-10, 1 + 1e-10);               // narrow and wide
  near(8, 0.246211251 - 1e-9, 0.246211251 + 1e-9);  // w (a + w / 2) = 2
}

TEST(TruncatedNormal, HasLimits) {
  const TruncatedNormal all = truncated_normal(-kFar, kFar, kFar);
  EXPECT_EQ(all.log_prob, 0);
  EXPECT_EQ(all.mean, 0);
  EXPECT_EQ(all.excess, 0);
  const TruncatedNormal point = truncated_normal(1.5, 1.5, 0);
  EXPECT_EQ(point.log_prob, -kFar);
  EXPECT_EQ(point.mean, 1.5);
  EXPECT_EQ(point.excess, 1.25);
  const double width = 0x1p-40;  // log P -> log density + log width
  const TruncatedNormal small = truncated_normal(1.5, 1.5 + width, width);
  EXPECT_NEAR(small.log_prob, student_log_density(1.5, kFar) + std::log(width), 1e-11);
  EXPECT_NEAR(small.mean, 1.5, 1e-11);
  EXPECT_NEAR(small.excess, 1.25, 1e-11);
  EXPECT_TRUE(std::isnan(truncated_normal(std::nan(""), 1, 1).log_prob));
}

struct StudentCase {
  double a, b, dof, log_prob;
};

// References by mpmath 1.4.1 with 60 digits, of the regularised incomplete beta function.
constexpr StudentCase kStudentCases[] = {
    {40, kFar, 5, -16.200827353101412},     {40, 40 + 0x1p-20, 5, -32.145886640946429},
    {-1, 2, 3, -0.30810806150747497},       {-kFar, -200, 300, -738.81659291959713},
    {-205, -200, 300, -738.81723305745962}, {-3, -2.75, 30, -6.0726896869685015},
    {1e100, kFar, 4, -919.93542490895016},  {-0.5, 0.625, 2.5, -0.97020984233502261}};

TEST(LogStudentBetween, MatchesExtendedPrecision) {
  for (const StudentCase& c : kStudentCases) {
    EXPECT_LT(error(log_student_between(c.a, c.b, c.b - c.a, c.dof), c.log_prob), 1e-12) << c.a;
    EXPECT_DOUBLE_EQ(log_student_between(-c.b, -c.a, c.b - c.a, c.dof),
                     log_student_between(c.a, c.b, c.b - c.a, c.dof));
  }
}

// Where the tail is just large enough for a float64, the two ways of computing it agree.
TEST(LogStudentBetween, TheFarTailContinuesTheCdf) {
  for (const double z : {120.0, 140.0, 150.0, 160.0})  // 1e-256 to 1e-292; from 1e-280 on in another way
    EXPECT_LT(error(log_student_between(-kFar, -z, kFar, 300), std::log(student_cdf(-z, 300))), 1e-11) << z;
}

TEST(LogStudentBetween, ItsLimitIsTheNormalDistribution) {
  EXPECT_EQ(log_student_between(1, 2, 1, kFar), truncated_normal(1, 2, 1).log_prob);
  EXPECT_NEAR(log_student_between(1, 2, 1, 1e6), truncated_normal(1, 2, 1).log_prob, 1e-5);
  EXPECT_EQ(log_student_between(-kFar, kFar, kFar, 4), 0);
  EXPECT_EQ(log_student_between(2, 2, 0, 4), -kFar);
  EXPECT_THROW(log_student_between(0, 1, 1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
