// ridge against the dense Gaussian process with a linear kernel.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"

namespace slimbayes {
namespace {

/// Rows of a linear function of some of the columns, with noise of sd 0.3.
Dataset linear_rows(int64_t n, int64_t columns, uint64_t seed) {
  const Stream stream(seed);
  const at::Tensor x = stream.split("x").normal({n, columns});
  const at::Tensor w = Stream(77).normal({columns});
  return regression_data(x, 0.4 + at::mv(x, w) / 2 + 0.3 * stream.split("noise").normal({n}));
}

std::unique_ptr<Fitted> ridge(const Dataset& rows, const nlohmann::json& options = nlohmann::json::object()) {
  return registry_row("ridge").make(options)->fit({rows, {}}, {});
}

struct Variances {
  double noise, prior;
};

Variances variances_of(const Fitted& fitted) {
  const at::Tensor both = stored_tensor(fitted.save(), "variances");
  return {both[0].item<double>(), both[1].item<double>()};
}

/// log p(y) with the constant integrated out under a flat prior, without constants (Rasmussen and Williams
/// 2006, eq. 2.45).
double evidence(const Dataset& rows, const Variances& v) {
  const at::Tensor x = rows.all().inputs[0].to(at::kDouble), y = rows.all().target.to(at::kDouble);
  const at::Tensor cov = v.prior * at::matmul(x, x.t()) + v.noise * at::eye(x.size(0), at::kDouble);
  const at::Tensor one = at::ones_like(y), inverse_y = at::linalg_solve(cov, y),
                   inverse_one = at::linalg_solve(cov, one);
  const double a = at::dot(one, inverse_one).item<double>(), b = at::dot(one, inverse_y).item<double>();
  return -0.5 * (at::dot(y, inverse_y).item<double>() - b * b / a) - 0.5 * at::logdet(cov).item<double>() -
         0.5 * std::log(a);
}

TEST(Ridge, ItsVariancesHaveTheGreatestEvidence) {
  for (const int64_t columns : {3, 60}) {  // fewer and more than the rows
    const Dataset rows = linear_rows(40, columns, 1);
    const Variances found = variances_of(*ridge(rows));
    const double best = evidence(rows, found);
    // With more columns than rows the evidence is nearly flat in the noise.
    for (const double by : {0.5, 2.0}) {
      EXPECT_GT(best + 1e-3, evidence(rows, {found.noise * by, found.prior})) << columns << " " << by;
      EXPECT_GT(best + 1e-3, evidence(rows, {found.noise, found.prior * by})) << columns << " " << by;
      if (columns < 40) {
        EXPECT_GT(best, evidence(rows, {found.noise * by, found.prior}) + 1);
      }
    }
  }
}

TEST(Ridge, PredictsAsTheDenseFormulasDo) {
  const Dataset rows = linear_rows(30, 4, 1), fresh = linear_rows(9, 4, 2);
  const auto fitted = ridge(rows);
  const Variances v = variances_of(*fitted);
  const at::Tensor x = rows.all().inputs[0].to(at::kDouble), y = rows.all().target.to(at::kDouble),
                   z = fresh.all().inputs[0].to(at::kDouble), one = at::ones_like(y);
  const at::Tensor inverse =
      at::linalg_inv(v.prior * at::matmul(x, x.t()) + v.noise * at::eye(30, at::kDouble));
  const at::Tensor cross = v.prior * at::matmul(z, x.t()), solved = at::mv(inverse, one);
  const at::Tensor constant = at::dot(solved, y) / at::dot(one, solved);
  const at::Tensor mean = at::mv(cross, at::mv(inverse, y - constant)) + constant;
  const at::Tensor var = v.prior * z.square().sum(1) - (at::matmul(cross, inverse) * cross).sum(1) +
                         (1 - at::mv(cross, solved)).square() / at::dot(one, solved);  // eq. 2.42
  const auto p = std::get<Regression>(fitted->predict(fresh));
  EXPECT_TRUE(at::allclose(p.mean, mean, 1e-8, 1e-9));
  EXPECT_TRUE(at::allclose(p.epistemic_var, var, 1e-7, 1e-10));
  EXPECT_NEAR(p.aleatoric_var[0].item<double>(), v.noise, 1e-12);
  EXPECT_NEAR(std::sqrt(v.noise), 0.3, 0.12);
}

TEST(Ridge, AWindowIsTheRowOfItsSteps) {
  const Dataset rows = linear_rows(50, 6, 1);
  const at::Tensor x = rows.all().inputs[0];
  const Dataset windows = regression_data(x.view({50, 3, 2}), rows.all().target);
  const auto a = std::get<Regression>(ridge(rows)->predict(rows)),
             b = std::get<Regression>(ridge(windows)->predict(windows));
  EXPECT_TRUE(at::equal(a.mean, b.mean) && at::equal(a.epistemic_var, b.epistemic_var));
}

TEST(Ridge, ColumnsThatRepeatOrAreConstantCostNothing) {
  const Dataset rows = linear_rows(50, 3, 1);
  const at::Tensor x = rows.all().inputs[0];
  const Dataset more =
      regression_data(at::cat({x, x, at::zeros({50, 1}, at::kDouble)}, 1), rows.all().target);
  const auto a = std::get<Regression>(ridge(rows)->predict(rows)),
             b = std::get<Regression>(ridge(more)->predict(more));
  EXPECT_TRUE(at::allclose(a.mean, b.mean, 1e-3, 1e-3));
}

TEST(Ridge, RefusesMoreColumnsThanItMay) {
  EXPECT_THROW(ridge(linear_rows(20, 6, 1), {{"max_columns", 5}}), std::invalid_argument);
}

TEST(Ridge, AWhollyLinearTargetHasTheNoiseOfTheFloor) {
  const at::Tensor x = Stream(3).normal({40, 2});
  const auto fitted = ridge(regression_data(x, x.sum(1)), {{"noise_floor", 1e-6}});
  EXPECT_NEAR(variances_of(*fitted).noise, 1e-6, 1e-7);
}

}  // namespace
}  // namespace slimbayes
