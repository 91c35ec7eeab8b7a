#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

std::unique_ptr<Fitted> fitted_gp(const nlohmann::json& options, int64_t rows = 40) {
  return registry_row("gp-exact")
      .make(options)
      ->fit({contract::toy(rows, 1), contract::toy(0, 2)}, {Stream(0), nullptr, {}});
}

/// The formulas of Rasmussen and Williams (2006; 2.25, 2.26, 2.30) with explicit inverses.
struct Dense {
  at::Tensor x, y, lengthscale, inverse, a;
  double amplitude, noise, offset;

  explicit Dense(const TensorFile& file, const at::Tensor& theta)
      : x(stored_tensor(file, "data.x")),
        y(stored_tensor(file, "data.y")),
        lengthscale(at::exp(theta.narrow(0, 0, 2))),
        amplitude(std::exp(theta[2].item<double>())),
        noise(std::exp(theta[3].item<double>()) + 1e-6),
        offset(theta[4].item<double>()) {
    a = kernel(x, x) + noise * at::eye(x.size(0), at::kDouble);
    inverse = at::linalg_inv(a);
  }
  at::Tensor kernel(const at::Tensor& u, const at::Tensor& v) const {
    at::Tensor difference = (u.unsqueeze(1) - v.unsqueeze(0)) / lengthscale;
    return amplitude * at::exp(-0.5 * difference.square().sum(-1));
  }
  double evidence() const {
    at::Tensor r = y - offset;
    return (-0.5 * at::dot(r, at::mv(inverse, r)) - 0.5 * at::logdet(a)).item<double>() -
           0.5 * static_cast<double>(x.size(0)) * std::log(2 * std::numbers::pi);
  }
};

TEST(GpExact, PredictsAsTheDenseFormulasDo) {
  for (int iterations : {0, 30}) {
    auto gp = fitted_gp({{"iterations", iterations}});
    TensorFile file = gp->save();
    Dense dense(file, stored_tensor(file, "theta"));
    Dataset data = contract::toy(15, 3);
    Regression p = std::get<Regression>(gp->predict(data));
    at::Tensor cross = dense.kernel(data.all().inputs[0], dense.x);
    at::Tensor mean = at::mv(cross, at::mv(dense.inverse, dense.y - dense.offset)) + dense.offset;
    at::Tensor one = at::ones_like(dense.y), solved = at::mv(dense.inverse, one);
    at::Tensor var = dense.amplitude - (at::matmul(cross, dense.inverse) * cross).sum(-1) +
                     (1 - at::mv(cross, solved)).square() / at::dot(one, solved);  // eq. 2.42
    EXPECT_TRUE(at::allclose(p.mean, mean, 1e-8, 1e-10));
    EXPECT_TRUE(at::allclose(p.epistemic_var, var, 1e-7, 1e-10));
    EXPECT_NEAR(p.aleatoric_var[0].item<double>(), dense.noise, 1e-12);
  }
}

TEST(GpExact, TheHyperparametersMaximiseTheEvidence) {
  auto gp = fitted_gp({{"iterations", 200}});
  TensorFile file = gp->save();
  at::Tensor theta = stored_tensor(file, "theta");
  double best = Dense(file, theta).evidence();
  EXPECT_NEAR(gp->summary().best_score, -best / 40, 1e-9);
  for (int64_t i = 0; i < theta.size(0); ++i) {
    for (double step : {-0.05, 0.05}) {
      at::Tensor moved = theta.clone();
      moved[i] += step;
      EXPECT_LT(Dense(file, moved).evidence(), best + 1e-4) << i;
    }
  }
}

// A single search that starts at l = sqrt(d) and a noise of 0.1 would explain these rows as noise alone, with
// an amplitude of e^-20.
TEST(GpExact, FewRowsOfAFastWaveAreNotTakenForNoise) {
  at::Tensor x = at::linspace(-1.6, 1.6, 15, at::kDouble);
  at::Tensor y = at::sin(7 * x) + 0.05 * Stream(4).normal({15});
  const Dataset data = dataset_of({{}, {"x"}}, {{x.unsqueeze(1)}, y});
  auto gp = registry_row("gp-exact").make({{"iterations", 60}})->fit({data, {}}, {Stream(0), nullptr, {}});
  Regression p = std::get<Regression>(gp->predict(data));
  EXPECT_LT((p.mean - at::sin(7 * x)).abs().max().item<double>(), 0.3);
  EXPECT_LT(p.aleatoric_var[0].item<double>(), 0.05);
}

TEST(GpExact, TheHyperparametersMaySeeFewerRowsThanThePosterior) {
  auto gp = fitted_gp({{"iterations", 5}, {"evidence_rows", 10}}, 40);
  EXPECT_EQ(stored_tensor(gp->save(), "data.x").size(0), 40);
  EXPECT_FALSE(gp->summary().notes.empty());
}

TEST(GpExact, RefusesMoreRowsThanItMay) {
  EXPECT_THROW(fitted_gp({{"max_rows", 39}}, 40), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
