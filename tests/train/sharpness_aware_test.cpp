#include "slimbayes/train/sharpness_aware.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace slimbayes {
namespace {

/// f(x, y) = x^4 / 4 + y^2 / 2 with the groups x [1] and y [1]. A step adds 1 to the buffer.
struct Bowl {
  TrainProblem problem;
  int passes = 0;

  Bowl(double x, double y) {
    for (const auto& [name, at] : {std::pair{"x", x}, std::pair{"y", y}})
      problem.groups.push_back({name, at::full({1}, at, at::kDouble), at::zeros({1}, at::kDouble)});
    problem.buffers = {at::zeros({1})};
    problem.step = [this](const Batch&, const StepContext&) {
      ++passes;
      const double x = problem.groups[0].value.item<double>(), y = problem.groups[1].value.item<double>();
      problem.groups[0].grad += x * x * x;
      problem.groups[1].grad += y;
      problem.buffers[0] += 1;
      return std::pow(x, 4) / 4 + y * y / 2;
    };
    problem.sharpness = 0.1;
  }

  double step(std::vector<std::string> sharp_groups) {
    problem.sharp_groups = std::move(sharp_groups);
    return sharpness_aware(problem, problem.step)({}, {0, 1}).value();
  }
};

TEST(SharpnessAware, TakesTheGradientUphillAndComesBack) {
  Bowl bowl(2, 3);
  const double loss = bowl.step({"x", "y"});
  EXPECT_NEAR(loss, 4 + 4.5, 1e-12);
  const double norm = std::hypot(8, 3), x = 2 + 0.1 * 8 / norm, y = 3 + 0.1 * 3 / norm;
  EXPECT_NEAR(bowl.problem.groups[0].grad.item<double>(), x * x * x, 1e-12);
  EXPECT_NEAR(bowl.problem.groups[1].grad.item<double>(), y, 1e-12);
  EXPECT_EQ(bowl.problem.groups[0].value.item<double>(), 2);
  EXPECT_EQ(bowl.problem.groups[1].value.item<double>(), 3);
  EXPECT_EQ(bowl.problem.buffers[0].item<double>(), 1);
  EXPECT_EQ(bowl.passes, 2);
}

TEST(SharpnessAware, MovesTheNamedGroupsOnly) {
  Bowl bowl(2, 3);
  bowl.step({"x"});
  EXPECT_NEAR(bowl.problem.groups[0].grad.item<double>(), std::pow(2.1, 3), 1e-12);
  EXPECT_EQ(bowl.problem.groups[1].grad.item<double>(), 3);
}

TEST(SharpnessAware, AGradientOfZeroHasNoDirection) {
  Bowl bowl(0, 0);
  EXPECT_EQ(bowl.step({"x", "y"}), 0);
  EXPECT_EQ(bowl.passes, 1);
  EXPECT_EQ(bowl.problem.groups[0].grad.item<double>(), 0);
}

TEST(SharpnessAware, ComesBackIfTheSecondPassThrows) {
  Bowl bowl(2, 3);
  bowl.problem.step = [&bowl, own = bowl.problem.step](const Batch& batch, const StepContext& at) {
    const StepLoss loss = own(batch, at);
    if (bowl.passes == 2) throw std::runtime_error("the second pass");
    return loss;
  };
  EXPECT_THROW(bowl.step({"x", "y"}), std::runtime_error);
  EXPECT_EQ(bowl.problem.groups[0].value.item<double>(), 2);
  EXPECT_EQ(bowl.problem.groups[1].value.item<double>(), 3);
  EXPECT_EQ(bowl.problem.buffers[0].item<double>(), 1);
}

}  // namespace
}  // namespace slimbayes
