#include "slimbayes/methods/portfolio/stacking.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

/// Log densities of n draws of N(0, 1) under Gaussians with these means and sds. [n, k]
at::Tensor log_densities(int64_t n, const std::vector<std::pair<double, double>>& models) {
  const at::Tensor y = Stream(1).normal({n});
  std::vector<at::Tensor> columns;
  for (const auto& [mean, sd] : models)
    columns.push_back(-0.5 * ((y - mean) / sd).square() - std::log(sd) - 0.5 * std::log(2 * M_PI));
  return at::stack(columns, 1);
}

double score(const at::Tensor& log_density, const std::vector<double>& w) {
  return (log_density.exp() * at::tensor(w, at::kDouble)).sum(1).log().sum().item<double>();
}

TEST(Stacking, TheTrueModelTakesNearlyAllOfTheWeight) {
  const std::vector<double> w = stacking_weights(log_densities(2000, {{1, 1}, {0, 1}, {0, 3}}));
  EXPECT_GT(w[1], 0.9);
  EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1, 1e-12);
}

TEST(Stacking, WeightsMaximiseTheLogScoreWithThePrior) {
  const at::Tensor log_density = log_densities(300, {{0.8, 1}, {-0.8, 1}});
  const std::vector<double> w = stacking_weights(log_density);
  const auto objective = [&](double first) {
    return score(log_density, {first, 1 - first}) + std::log(first) + std::log(1 - first);
  };
  for (const double by : {-0.02, 0.02}) EXPECT_GT(objective(w[0]), objective(w[0] + by));
  EXPECT_GT(w[0], 0.3);  // the mixture is better than either
  EXPECT_LT(w[0], 0.7);
}

TEST(Stacking, NoDensityUnderflows) {
  at::Tensor log_density = log_densities(50, {{0, 1}, {0, 2}}) - 5000;
  log_density[3].fill_(-std::numeric_limits<double>::infinity());  // a row that no model explains
  log_density[4][0] = -std::numeric_limits<double>::infinity();
  for (const double w : stacking_weights(log_density)) EXPECT_TRUE(w > 0 && w < 1) << w;
}

TEST(Stacking, BadArguments) {
  EXPECT_THROW(stacking_weights(at::zeros({0, 2}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(stacking_weights(at::zeros({2}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(stacking_weights(at::full({2, 2}, NAN, at::kDouble)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
