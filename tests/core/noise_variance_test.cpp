// Tests each form of the noise variance: its start value, its derivative, and that it never falls below the
// floor and can rise from it again.
#include "slimbayes/core/noise_variance.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace slimbayes {
namespace {

const char* const kForms[] = {"exp", "softplus", "variance", "sd"};

NoiseVariance noise(const char* form, double start = 0.01, double floor = 1e-4) {
  return NoiseVariance({.noise_start = start, .noise_floor = floor, .noise_form = form});
}

at::Tensor scalar(double value) { return at::full({}, value, at::kDouble); }

TEST(NoiseVariance, StartsAtItsStartInEveryForm) {
  for (const char* form : kForms) {
    for (double start : {2e-4, 0.01, 1.0, 50.0}) {
      SCOPED_TRACE(form);
      NoiseVariance variance = noise(form, start);
      const double theta = variance.start("test");
      EXPECT_NEAR(variance(theta), start, 1e-12 * (1 + start));
      EXPECT_NEAR(variance(scalar(theta)).item<double>(), start, 1e-12 * (1 + start));
    }
  }
}

TEST(NoiseVariance, ItsGradientIsThatOfItsValue) {
  for (const char* form : kForms) {
    for (double start : {0.01, 0.5, 4.0}) {
      SCOPED_TRACE(form);
      NoiseVariance variance = noise(form, start);
      const double theta = variance.start("test"), h = 1e-6 * theta;
      const double difference = (variance(theta + h) - variance(theta - h)) / (2 * h);
      EXPECT_NEAR(variance.gradient(scalar(theta), scalar(-3)).item<double>(), -3 * difference, 1e-6);
    }
  }
}

TEST(NoiseVariance, TheClampedFormsStayAtTheFloorAndLeaveItAgain) {
  for (const char* form : {"variance", "sd"}) {
    SCOPED_TRACE(form);
    NoiseVariance variance = noise(form);
    for (double theta : {-0.3, 0.0, 5e-5}) {
      EXPECT_EQ(variance(theta), 1e-4);
      EXPECT_EQ(variance.gradient(scalar(theta), scalar(2)).item<double>(), 0) << "down";
      EXPECT_LT(variance.gradient(scalar(theta), scalar(-2)).item<double>(), 0) << "back up";
    }
  }
}

TEST(NoiseVariance, TensorOperationsGiveTheSameNumbers) {
  for (const char* form : kForms) {
    for (double theta : {-30.0, -0.3, 0.0, 5e-5, 0.02, 0.7, 4.0, 30.0}) {
      SCOPED_TRACE(form);
      SCOPED_TRACE(theta);
      const NoiseVariance variance = noise(form);
      const double value = variance(theta);
      EXPECT_NEAR(variance.pending(scalar(theta)).item<double>(), value, 1e-14 * value);
      for (double g : {-2.0, 0.0, 2.0}) {
        const double gradient = variance.gradient(theta, g);
        EXPECT_NEAR(variance.pending_gradient(scalar(theta), scalar(g)).item<double>(), gradient,
                    1e-14 * std::abs(gradient));
      }
    }
  }
}

TEST(NoiseVariance, RefusesAStartWithoutRoom) {
  for (const char* form : kForms)
    EXPECT_THROW(noise(form, 1e-4).start("test"), std::invalid_argument) << form;
  for (const char* form : {"variance", "sd"})
    EXPECT_THROW(noise(form, 0.01, 0).start("test"), std::invalid_argument) << form;
  EXPECT_NO_THROW(noise("exp", 0.01, 0).start("test"));
}

}  // namespace
}  // namespace slimbayes
