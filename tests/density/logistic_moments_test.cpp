#include "slimbayes/density/logistic_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slimbayes {
namespace {

constexpr double kGaussian = std::numeric_limits<double>::infinity();

// Reference values: sums over 6001 nodes of the latent function and of the noise, from -9 to 9 sds each
// (numpy).
TEST(LogisticMoments, OfAGaussianAreThoseOfADenseSum) {
  const struct {
    RowMoments t, expected;
  } cases[] = {
      {{0, 1, 0.5}, {0.5, 0.03860728130880129, 0.018630020271804923}},
      {{-3, 0.2, 2}, {0.0955707269332502, 0.0018708868790202082, 0.013823920121425767}},
      {{2, 4, 9}, {0.6907518184401225, 0.04839416814072185, 0.07753930677560937}},
      {{0.5, 0, 1}, {0.6020271328167501, 0, 0.0406040305775683}},
      {{0.5, 1, 0}, {0.6020271328167501, 0.0406040305775683, 0}},
      {{0, 30, 400}, {0.5, 0.043610109161160523, 0.18722419781364114}},
  };
  for (const auto& one : cases) {
    const RowMoments own = logistic_moments(one.t, kGaussian);
    EXPECT_NEAR(own.mean, one.expected.mean, 1e-8) << one.t.mean;
    EXPECT_NEAR(own.aleatoric_var, one.expected.aleatoric_var, 1e-8) << one.t.mean;
    EXPECT_NEAR(own.epistemic_var, one.expected.epistemic_var, 1e-8) << one.t.mean;
  }
}

// Reference values: adaptive quadrature of scipy, piece by piece, in atan(t).
TEST(LogisticMoments, OfAStudentAreThoseOfAdaptiveQuadrature) {
  const struct {
    double mean, var, dof, expected, expected_var;
  } cases[] = {{-2, 1.25, 2.5, 0.14364073924071205, 0.012653380443850771},
               {-4, 15, 5, 0.14953449101686722, 0.07135891484205213},
               {1, 800, 4, 0.5186454778916173, 0.23102596636926745}};
  for (const auto& one : cases) {
    const RowMoments own = logistic_moments({one.mean, 0.25 * one.var, 0.75 * one.var}, one.dof);
    EXPECT_NEAR(own.mean, one.expected, 1e-8) << one.dof;
    EXPECT_NEAR(own.var(), one.expected_var, 1e-8) << one.dof;
    const RowMoments gaussian = logistic_moments({one.mean, 0.25 * one.var, 0.75 * one.var}, kGaussian);
    EXPECT_NEAR(own.epistemic_var / own.var(), gaussian.epistemic_var / gaussian.var(), 1e-12) << one.dof;
  }
}

TEST(LogisticMoments, AreThoseOfTheMirrorImage) {
  for (const double dof : {3.0, kGaussian}) {
    const RowMoments low = logistic_moments({-1.7, 0.4, 0.9}, dof),
                     high = logistic_moments({1.7, 0.4, 0.9}, dof);
    EXPECT_NEAR(low.mean + high.mean, 1, 1e-15);
    EXPECT_EQ(low.aleatoric_var, high.aleatoric_var);
    EXPECT_EQ(low.epistemic_var, high.epistemic_var);
  }
}

// Far from 0 the logistic function is an exponential one, whose variance is known.
TEST(LogisticMoments, KeepTheDigitsOfSmallVariances) {
  const RowMoments own = logistic_moments({40, 0.01, 0.02}, kGaussian);
  const double unit = std::exp(-40 + 0.015), square = unit * unit;
  EXPECT_NEAR(own.aleatoric_var / (square * std::exp(0.02) * std::expm1(0.01)), 1, 1e-6);
  EXPECT_NEAR(own.epistemic_var / (square * std::expm1(0.02)), 1, 1e-6);
}

}  // namespace
}  // namespace slimbayes
