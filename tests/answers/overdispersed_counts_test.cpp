// Counts with a dispersion or zeros in excess: their moments, mixtures, likelihoods and metrics.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/count_likelihood.h"
#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/density/count_noise.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

at::Tensor number(double x) { return at::scalar_tensor(x, at::kDouble); }

Counts noisy(const at::Tensor& mean, const at::Tensor& var, const at::Tensor& dispersion,
             const at::Tensor& zeros = {}) {
  return {{mean, var}, 0, dispersion, zeros};
}

TEST(OverdispersedCounts, RowsAreThoseOfPlainNumbers) {
  const Counts p = noisy(row({1, 2, -1}), row({0.5, 0.01, 2}), row({0.5, 0, 3}), row({0, 0.2, 0.4}));
  const at::Tensor y = row({2, 9, 0}), log_p = count_log_prob(p, y), cdf = count_cdf(p, y),
                   q = count_quantile(p, 0.9);
  const CountNoise noise[] = {{0.5, 0}, {0, 0.2}, {3, 0.4}};
  const LogRate rates[] = {{1, 0.5}, {2, 0.01}, {-1, 2}};
  const double counts[] = {2, 9, 0};
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(log_p[i].item<double>(), count_log_prob(rates[i], noise[i], counts[i]));
    EXPECT_EQ(cdf[i].item<double>(), count_cdf(rates[i], noise[i], counts[i]));
    EXPECT_EQ(q[i].item<double>(), count_quantile(rates[i], noise[i], 0.9));
  }
  const Interval ends = interval(p, 0.8);
  EXPECT_TRUE(at::equal(ends.upper, q));
  EXPECT_NEAR(count_nll(p, y), -log_p.mean().item<double>(), 1e-14);
  EXPECT_THROW(count_log_prob(p, row({2, 9})), std::invalid_argument);
  EXPECT_THROW(count_log_prob(noisy(row({1}), row({1}), row({-1})), row({2})), std::invalid_argument);
}

TEST(OverdispersedCounts, PoissonCountsKeepTheirNumbers) {
  const LogNormalRate rate{row({1, 2}), row({0.5, 0.01})};
  const at::Tensor y = row({2, 9});
  EXPECT_TRUE(at::equal(count_log_prob(Counts{rate}, y), poisson_lognormal_log_prob(rate, y)));
  EXPECT_TRUE(at::equal(count_cdf(Counts{rate}, y), poisson_lognormal_cdf(rate, y)));
  EXPECT_TRUE(at::equal(count_quantile(Counts{rate}, 0.3), poisson_lognormal_quantile(rate, 0.3)));
  EXPECT_TRUE(at::equal(total_var(Counts{rate}), mean(rate) + var(rate)));
  const Counts none = noisy(rate.log_mean, rate.log_var, row({0, 0}), row({0, 0}));
  EXPECT_TRUE(at::allclose(count_log_prob(none, y), count_log_prob(Counts{rate}, y), 0, 1e-10));
  EXPECT_TRUE(at::allclose(total_var(none), total_var(Counts{rate}), 1e-14, 0));
}

TEST(OverdispersedCounts, TheMomentsAreThoseOfTheProbabilities) {
  const Counts p = noisy(row({0.8}), row({0.04}), row({0.3}), row({0.2}));
  const at::Tensor y = at::arange(0, 1500, at::kDouble), ones = at::ones_like(y);
  const at::Tensor mass = count_log_prob(noisy(0.8 * ones, 0.04 * ones, 0.3 * ones, 0.2 * ones), y).exp();
  const double first = at::dot(mass, y).item<double>(), second = at::dot(mass, y * y).item<double>();
  EXPECT_NEAR(mean(p).item<double>(), first, 1e-7);
  EXPECT_NEAR(total_var(p).item<double>(), second - first * first, 1e-5);
  EXPECT_NEAR((aleatoric_var(p) + epistemic_var(p) - total_var(p)).item<double>(), 0, 1e-14);
}

TEST(OverdispersedCounts, AMixtureHasTheMomentsOfItsParts) {
  const Counts a = noisy(row({0.5, 2}), row({0.3, 0.1}), row({0.4, 0.4}), row({0.1, 0.1})),
               b = noisy(row({1.5, 2}), row({0.2, 0.1}), row({1.4, 1.4})), c{{row({0, 2}), row({0.5, 0.1})}};
  for (const std::vector<double>& w : {std::vector<double>{0.2, 0.5, 0.3}, {1.0 / 3, 1.0 / 3, 1.0 / 3}}) {
    const Counts all = std::get<Counts>(mixture({a, b, c}, w));
    const auto of_parts = [&](const std::function<at::Tensor(const Counts&)>& field) {
      return w[0] * field(a) + w[1] * field(b) + w[2] * field(c);
    };
    const at::Tensor centre = of_parts([](const Counts& p) { return mean(p); });
    EXPECT_TRUE(at::allclose(mean(all), centre, 1e-12, 0));
    EXPECT_TRUE(at::allclose(aleatoric_var(all), of_parts([](const Counts& p) { return aleatoric_var(p); }),
                             1e-12, 0));
    const at::Tensor spread = of_parts([&](const Counts& p) { return (mean(p) - centre).square(); });
    const at::Tensor own = of_parts([](const Counts& p) { return epistemic_var(p); });
    EXPECT_TRUE(at::allclose(epistemic_var(all), own + spread, 1e-10, 0));
  }
  const Counts equal = std::get<Counts>(mixture({a, b, c})),
               weighted = std::get<Counts>(mixture({a, b, c}, {1, 1, 1}));
  EXPECT_TRUE(at::allclose(equal.dispersion, weighted.dispersion, 1e-12, 0));
  // Equal parts are their own mixture.
  const Counts same = std::get<Counts>(mixture({a, a}));
  EXPECT_TRUE(at::allclose(same.dispersion, a.dispersion, 1e-12, 0));
  EXPECT_TRUE(at::allclose(same.zero_share, a.zero_share, 1e-12, 0));
  EXPECT_TRUE(at::allclose(same.rate.log_mean, a.rate.log_mean, 1e-12, 1e-12));
}

TEST(OverdispersedCounts, RowsAreTakenAndJoinedWithTheirNoise) {
  const Counts a = noisy(row({1, 2}), row({0.1, 0.2}), row({0.4, 0.5})), b{{row({3}), row({0.3})}};
  const Counts all = std::get<Counts>(concatenated({a, b}));
  EXPECT_TRUE(at::equal(all.dispersion, row({0.4, 0.5, 0})));
  EXPECT_FALSE(all.zero_share.defined());
  const Counts second = std::get<Counts>(take(a, at::tensor({1}, at::kLong)));
  EXPECT_TRUE(at::equal(second.dispersion, row({0.5})));
}

/// E_f[log P(y | f)] by the trapezoid rule over f, with P(y | f) in plain numbers.
double expected_by_sum(double m, double v, const CountNoise& noise, double y) {
  double sum = 0, weights = 0;
  for (double z = -9; z <= 9; z += 0.05) {
    const double weight = std::exp(-0.5 * z * z);
    sum += weight * count_log_prob({m + std::sqrt(v) * z, 0}, noise, y);
    weights += weight;
  }
  return sum / weights;
}

TEST(OverdispersedCounts, TheDataTermIsTheExpectedLogProbability) {
  for (const double y : {0.0, 1.0, 7.0}) {
    const Latent f{row({0.7}), row({0.4})};
    EXPECT_NEAR(NegativeBinomialLikelihood{number(0.6)}.expected_log_prob(f, row({y})).item<double>(),
                expected_by_sum(0.7, 0.4, {0.6}, y), 1e-7);
    EXPECT_NEAR(ZeroInflatedPoissonLikelihood{number(0.2)}.expected_log_prob(f, row({y})).item<double>(),
                expected_by_sum(0.7, 0.4, {0, 0.2}, y), 1e-6);
    // The limits are Poisson's data term in closed form.
    const double poisson = PoissonLikelihood{}.expected_log_prob(f, row({y})).item<double>();
    EXPECT_NEAR(NegativeBinomialLikelihood{number(1e-7)}.expected_log_prob(f, row({y})).item<double>(),
                poisson, 1e-5);
    EXPECT_NEAR(ZeroInflatedPoissonLikelihood{number(1e-40)}.expected_log_prob(f, row({y})).item<double>(),
                poisson, 1e-6);
  }
}

TEST(OverdispersedCounts, GradientsMatchCentralDifferences) {
  using Term = std::function<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)>;
  for (const double y : {0.0, 3.0})
    for (const bool zeros : {false, true}) {
      const Term term = [&](const at::Tensor& m, const at::Tensor& v, const at::Tensor& x) {
        const Latent f{m, v};
        return zeros ? ZeroInflatedPoissonLikelihood{x}.expected_log_prob(f, row({y}))
                     : NegativeBinomialLikelihood{x}.expected_log_prob(f, row({y}));
      };
      const double at[] = {0.4, 0.6, 0.3};
      const auto value = [&](double m, double v, double x) {
        return term(row({m}), row({v}), number(x)).item<double>();
      };
      at::Tensor m = row({at[0]}).requires_grad_(true), v = row({at[1]}).requires_grad_(true),
                 x = number(at[2]).requires_grad_(true);
      term(m, v, x).sum().backward();
      const double h = 1e-5;
      EXPECT_NEAR(m.grad().item<double>(),
                  (value(at[0] + h, at[1], at[2]) - value(at[0] - h, at[1], at[2])) / (2 * h), 1e-7);
      EXPECT_NEAR(v.grad().item<double>(),
                  (value(at[0], at[1] + h, at[2]) - value(at[0], at[1] - h, at[2])) / (2 * h), 1e-7);
      EXPECT_NEAR(x.grad().item<double>(),
                  (value(at[0], at[1], at[2] + h) - value(at[0], at[1], at[2] - h)) / (2 * h), 1e-7);
    }
}

TEST(OverdispersedCounts, TheAnswerHasTheNoiseOfTheLikelihood) {
  const Latent f{at::zeros({3}, at::kFloat), at::ones({3}, at::kFloat), 2};
  const Counts p = std::get<Counts>(NegativeBinomialLikelihood{number(0.7)}.predictive(f)),
               q = std::get<Counts>(ZeroInflatedPoissonLikelihood{number(0.1)}.predictive(f));
  EXPECT_TRUE(at::equal(p.dispersion, row({0.7, 0.7, 0.7})));
  EXPECT_FALSE(p.zero_share.defined());
  EXPECT_TRUE(at::equal(q.zero_share, row({0.1, 0.1, 0.1})));
  EXPECT_EQ(p.zeroed, 2);
  const at::Tensor y = row({0, 1, 4});
  EXPECT_TRUE(at::equal(NegativeBinomialLikelihood{number(0.7)}.log_predictive(f, y), count_log_prob(p, y)));
}

}  // namespace
}  // namespace slimbayes
