#include "slimbayes/core/gaussian_linear.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"
#include "tests/core/linear_problem.h"

namespace slimbayes {
namespace {

TEST(GaussianLinear, EqualsTheDenseGaussianProcess) {
  for (double sigma2 : {1e-3, 0.1, 3.0})
    for (int64_t n : {40, 4})
      for (bool d : {false, true})
        for (int prior : {0, 1, 2, 3})
          for (bool fit_mean : {false, true}) {
            Problem q = problem(n, 7, sigma2, d, prior, fit_mean);
            LinearPosterior p = linear_posterior(statistics(q.rows, fit_mean ? 1.5 : 0), q.model);
            Dense twin = dense(q.rows, q.model, q.test);
            SCOPED_TRACE(testing::Message()
                         << sigma2 << " n " << n << " D " << d << " T " << prior << " mean " << fit_mean);
            if (fit_mean) {
              EXPECT_LT(relative(p.constant, twin.constant.item<double>()), 1e-8);
            }
            EXPECT_LT(relative(mean(p, q.test), twin.mean), 1e-8);
            EXPECT_LT(relative(epistemic_var(p, q.test), twin.var), 1e-8);
            double evidence = twin.log_evidence.item<double>();
            EXPECT_LT(relative(log_evidence(p), evidence), 1e-8);
            EXPECT_LT(relative(log_evidence(p, residual_sum(p, q.rows)), evidence), 1e-8);
          }
}

at::Tensor tensor(const nlohmann::json& x) {
  if (x.is_null()) return {};
  if (!x[0].is_array()) return at::tensor(x.get<std::vector<double>>(), at::kDouble);
  std::vector<at::Tensor> lines;
  for (const auto& line : x) lines.push_back(tensor(line));
  return at::stack(lines);
}

// Reference values: golden/gaussian_linear.json, by mpmath with 60 digits. The tolerances follow from
// float64: a Gram matrix of trace g loses the directions below eps g. So if n < r or some features are dead,
// means and variances carry an error of up to eps g / sigma2 (6e-6 at sigma2 = 1e-9). The actual error
// depends on the order of the sums, hence on processor and threads.
TEST(GaussianLinear, EqualsExtendedPrecisionForTinyNoise) {
  std::ifstream file(SLIMBAYES_SOURCE_DIR "/tests/core/golden/gaussian_linear.json");
  nlohmann::json golden = nlohmann::json::parse(file);
  ASSERT_EQ(golden["cases"].size(), 21u);
  for (const auto& g : golden["cases"]) {
    LinearRows rows{tensor(g["features"]), tensor(g["y"]), tensor(g["d"])};
    LinearModel model{g["sigma2"], tensor(g["prior_factor"]), g["fit_mean"]};
    LinearPosterior p = linear_posterior(statistics(rows), model);
    SCOPED_TRACE(testing::Message() << g["name"] << " sigma2 " << model.sigma2);
    at::Tensor test = tensor(g["test"]);
    double trace = rows.features.square().sum().item<double>();
    double loss = g["name"] == "n < r" ? std::numeric_limits<double>::epsilon() * trace / model.sigma2 : 0;
    if (model.fit_mean) {
      EXPECT_LT(relative(p.constant, g["constant"]), 1e-8);
    }
    EXPECT_LT(relative(mean(p, test), tensor(g["mean"])), 1e-8 + loss);
    EXPECT_LT(relative(epistemic_var(p, test), tensor(g["epistemic_var"])), 1e-8 + loss);
    double evidence = g["log_evidence"];
    EXPECT_LT(relative(log_evidence(p, residual_sum(p, rows)), evidence), 1e-8 + loss);
    // Without the residuals y^T C^-1 y is a difference of numbers as large as yy / sigma2, each a sum of n
    // terms with an error of up to n eps.
    const double yy = p.statistics.yy, n = static_cast<double>(p.statistics.n);
    const double cancelled = n * std::numeric_limits<double>::epsilon() * yy / model.sigma2;
    EXPECT_LT(relative(log_evidence(p), evidence), 1e-8 + cancelled / std::abs(evidence));
  }
}

TEST(GaussianLinear, SeventeenUnequalBatchesEqualOne) {
  Problem q = problem(4000, 48, 0.01, true, 2, true);
  LinearStatistics s = linear_statistics(48, 2);
  int64_t from = 0;
  for (int64_t i = 1; i <= 17; ++i) {
    int64_t to = i == 17 ? 4000 : from + 25 * i;
    s = added(s, part(q.rows, from, to));
    from = to;
  }
  LinearPosterior once = linear_posterior(statistics(q.rows, 2), q.model), p = linear_posterior(s, q.model);
  EXPECT_LT(relative(mean(p, q.test), mean(once, q.test)), 1e-10);
  EXPECT_LT(relative(epistemic_var(p, q.test), epistemic_var(once, q.test)), 1e-10);
  // The residual sum is a small difference of large sums; the processor decides how many digits are left.
  EXPECT_LT(relative(log_evidence(p), log_evidence(once)), 1e-8);
}

void expect_same(const LinearPosterior& a, const LinearPosterior& b, const at::Tensor& test,
                 double tolerance) {
  EXPECT_LT(relative(mean(a, test), mean(b, test)), tolerance);
  EXPECT_LT(relative(epistemic_var(a, test), epistemic_var(b, test)), tolerance);
  EXPECT_LT(relative(log_evidence(a), log_evidence(b)), tolerance);
  EXPECT_LT(relative(a.precision.factor, b.precision.factor), tolerance);
}

TEST(GaussianLinear, AddedRowsEqualARefitAndRemovingThemReturns) {
  for (int64_t k : {1, 4, 30})  // 1 and 4 rows are added by rotations, 30 by a new factorisation
    for (int prior : {0, 1, 3}) {
      Problem q = problem(100 + k, 40, 0.01, true, prior, true);
      LinearRows old = part(q.rows, 0, 100), more = part(q.rows, 100, 100 + k);
      LinearPosterior start = linear_posterior(statistics(old, 2), q.model), grown = added(start, more);
      expect_same(grown, linear_posterior(statistics(q.rows, 2), q.model), q.test, 1e-9);
      expect_same(removed(grown, more), start, q.test, 1e-8);
      EXPECT_EQ(start.statistics.n, 100);  // `start` is a value and does not change
    }
}

TEST(GaussianLinear, AStreamOfRowsInPlaceEqualsARefit) {
  const Problem q = problem(200, 96, 0.01, true, 3, true);
  LinearPosterior p = linear_posterior(statistics(part(q.rows, 0, 100), 2), q.model);
  const void *sums = p.statistics.S.data_ptr(), *factor = p.precision.factor.data_ptr();
  for (int64_t low = 100; low < 200; low += 10) p = added(std::move(p), part(q.rows, low, low + 10));
  EXPECT_EQ(p.statistics.S.data_ptr(), sums);
  EXPECT_EQ(p.precision.factor.data_ptr(), factor);
  expect_same(p, linear_posterior(statistics(q.rows, 2), q.model), q.test, 1e-8);
  const LinearPosterior kept = p;  // shares the tensors: the next change copies them
  p = removed(std::move(p), part(q.rows, 190, 200));
  expect_same(kept, linear_posterior(statistics(q.rows, 2), q.model), q.test, 1e-8);
  expect_same(p, linear_posterior(statistics(part(q.rows, 0, 190), 2), q.model), q.test, 1e-8);
}

TEST(GaussianLinear, WithoutRowsItIsThePrior) {
  LinearPosterior p =
      linear_posterior(linear_statistics(3, 5), {0.1, at::scalar_tensor(2.0, at::kDouble), true});
  at::Tensor x = Stream(1).normal({4, 3});
  EXPECT_TRUE(at::equal(mean(p, x), at::full({4}, 5.0, at::kDouble)));
  EXPECT_LT(relative(epistemic_var(p, x), 4 * x.square().sum(1)), 1e-14);
  EXPECT_EQ(log_evidence(p), 0);
}

TEST(GaussianLinear, DuplicatedRowsAndDeadFeaturesKeepTheirPrior) {
  Problem q = problem(6, 4, 1e-3, false, 0, false);
  q.rows.features = q.rows.features.slice(0, 0, 1).expand({6, 4}).clone();
  q.rows.features.select(1, 3).zero_();
  LinearPosterior p = linear_posterior(statistics(q.rows), q.model);
  at::Tensor dead = at::zeros({1, 4}, at::kDouble);
  dead[0][3] = 2;
  EXPECT_NEAR(epistemic_var(p, dead).item<double>(), 4, 1e-12);
  EXPECT_NEAR(p.weights[3].item<double>(), 0, 1e-12);
  Dense twin = dense(q.rows, q.model, q.test);
  EXPECT_LT(relative(epistemic_var(p, q.test), twin.var), 1e-8);
  EXPECT_LT(relative(log_evidence(p, residual_sum(p, q.rows)), twin.log_evidence.item<double>()), 1e-8);
}

TEST(GaussianLinear, AConstantTargetIsItsMean) {
  Problem q = problem(50, 4, 1e-6, false, 0, true);
  q.rows.y = at::full({50}, 1e6, at::kDouble);
  LinearPosterior p = linear_posterior(statistics(q.rows, 1e6), q.model);
  EXPECT_DOUBLE_EQ(p.constant, 1e6);
  EXPECT_EQ(p.weights.norm().item<double>(), 0);
  EXPECT_TRUE(std::isfinite(log_evidence(p)));
  q.model.fit_mean = false;
  EXPECT_LT(relative(mean(linear_posterior(statistics(q.rows, 1e6), q.model), q.test),
                     at::full({5}, 1e6, at::kDouble)),
            1e-12);
}

TEST(GaussianLinear, NoiseTooSmallForTheSumsLeavesThePrior) {
  // The rounding error of S outweighs the prior in 37 of 40 directions: the rows say nothing of them.
  const Problem tiny = problem(3, 40, 1e-22, false, 0, false);
  const LinearPosterior p = linear_posterior(statistics(tiny.rows), tiny.model);
  const Dense twin = dense(tiny.rows, tiny.model, tiny.test);
  EXPECT_LT(relative(epistemic_var(p, tiny.test), twin.var), 1e-10);
  EXPECT_LT(relative(mean(p, tiny.test), twin.mean), 1e-10);
  EXPECT_LT(epistemic_var(p, tiny.rows.features).max().item<double>(), 1e-10);
}

TEST(GaussianLinear, EveryWidthOfThePriorIsThatOfTheExactSolution) {
  // Phi = U diag(d) V^T with known factors, three directions of eight without any row: the posterior variance
  // of the coordinate V_j is 1 / (1 / s^2 + d_j^2 / sigma2), that of the others s^2.
  const int64_t n = 40, r = 8;
  const double sigma2 = 0.04;
  const at::Tensor u = std::get<0>(at::linalg_qr(Stream(3).normal({n, r}))),
                   v = std::get<0>(at::linalg_qr(Stream(4).normal({r, r})));
  const at::Tensor d = at::tensor({9.0, 5.0, 3.0, 1.0, 0.2, 0.0, 0.0, 0.0}, at::kDouble);
  const at::Tensor phi = (u * d).mm(v.t()), w = Stream(5).normal({r});
  const LinearRows rows{phi, phi.mv(w), {}};
  for (double s : {1e-9, 1e-5, 1e-2, 1.0, 1e2, 1e4, 3e5, 1e7, 1e9}) {
    const double tolerance = 1e-6;  // at 1e10 on the diagonal of H, rounding is 1e-6 of the identity
    const LinearModel model{sigma2, s * at::eye(r, at::kDouble), false};
    const at::Tensor exact = 1 / (1 / (s * s) + d.square() / sigma2);  // [r]
    LinearPosterior p = linear_posterior(statistics(rows), model);
    const auto expect_exact = [&](const char* what) {
      EXPECT_LT(relative(epistemic_var(p, v.t()), exact), tolerance) << what << " at " << s;
      // The mean is w where the rows decide and 0 where there is none: no rounding of the sums is amplified.
      const at::Tensor coordinates = v.t().mv(w) * d.square() / (d.square() + sigma2 / (s * s));
      EXPECT_LT((v.t().mv(p.weights) - coordinates).abs().max().item<double>(), tolerance)
          << what << " at " << s;
    };
    expect_exact("at once");
    const LinearRows more = part(rows, 0, 1);  // one row, which would be rotated in and out
    p = removed(added(std::move(p), more), more);
    expect_exact("after an update");
  }
}

TEST(GaussianLinear, BadInputsAreErrorsNeverNan) {
  Problem q = problem(10, 3, 0.1, false, 0, false);
  LinearStatistics s = statistics(q.rows);
  for (double sigma2 : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(linear_posterior(s, {sigma2, {}, false}), std::invalid_argument);
  EXPECT_THROW(linear_posterior(s, {0.1, at::eye(4, at::kDouble), false}), std::invalid_argument);
  EXPECT_THROW(linear_posterior(s, {0.1, at::full({}, std::nan(""), at::kDouble), false}),
               std::invalid_argument);
  LinearPosterior p = linear_posterior(s, q.model);
  EXPECT_THROW(mean(p, at::zeros({2, 4}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(epistemic_var(p, at::full({2, 3}, std::nan(""), at::kDouble)), std::invalid_argument);
  LinearStatistics broken = s;
  broken.S = s.S * std::nan("");
  EXPECT_THROW(linear_posterior(broken, q.model), NumericalError);
  // One feature equals the constant mean, and the noise is too small to tell the two apart.
  q.rows.features.select(1, 0).fill_(1);
  EXPECT_THROW(linear_posterior(statistics(q.rows), {1e-14, {}, true}), NumericalError);
}

}  // namespace
}  // namespace slimbayes
