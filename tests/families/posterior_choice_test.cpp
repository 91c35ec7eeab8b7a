#include "slimbayes/families/posterior_choice.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

constexpr int64_t kRank = 6;

struct Residuals {
  at::Tensor features, y;
};

/// Returns residuals y = phi^T w + 0.3 noise with w ~ N(0, 4 T T^T).
Residuals residuals(int64_t n, uint64_t seed, const at::Tensor& t) {
  const Stream s(seed);
  const at::Tensor phi = s.split("phi").normal({n, kRank}), w = 2 * t.mv(Stream(1).normal({kRank}));
  return {phi, phi.mv(w) + 0.3 * s.split("noise").normal({n})};
}

at::Tensor prior_factor() {
  return at::eye(kRank, at::kDouble) + 0.3 * Stream(2).normal({kRank, kRank}).tril();
}

/// Returns the grid point with the least score, found by `score(noise, sd)` over the documented grids.
template <class Score>
PosteriorChoice least(double mse, double unit, Score score) {
  PosteriorChoice best;
  double low = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 25; ++i) {
    for (int k = 0; k < 25; ++k) {
      const double noise = 1e-3 * mse * std::pow(2000.0, i / 24.0),
                   sd = 1e-2 * unit * std::pow(1e3, k / 24.0);
      const double now = score(noise, sd);
      if (now < low) low = now, best = {noise, sd};
    }
  }
  return best;
}

TEST(PosteriorChoice, MaximisesTheEvidenceOrTheValidationNll) {
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  const double mse = valid.y.square().mean().item<double>();
  const double unit = 1 / std::sqrt(train.features.mm(t).square().sum(1).mean().item<double>());
  const auto posterior = [&](double noise, double sd) { return linear_posterior(s, {noise, sd * t}); };

  const PosteriorChoice by_evidence =
      chosen(spectrum_of(s, t, {}, {}), mse, {"evidence", "select", "select", 1});
  const PosteriorChoice expected =
      least(mse, unit, [&](double noise, double sd) { return -log_evidence(posterior(noise, sd)); });
  EXPECT_NEAR(by_evidence.noise_var / expected.noise_var, 1, 1e-9);
  EXPECT_NEAR(by_evidence.prior_sd / expected.prior_sd, 1, 1e-9);

  const PosteriorChoice by_nll =
      chosen(spectrum_of(s, t, valid.features, valid.y), mse, {"nll", "select", "select", 1});
  const PosteriorChoice wanted = least(mse, unit, [&](double noise, double sd) {
    const at::Tensor var = noise + epistemic_var(posterior(noise, sd), valid.features);
    return (var.log() + valid.y.square() / var).mean().item<double>();
  });
  EXPECT_NEAR(by_nll.noise_var / wanted.noise_var, 1, 1e-9);
  EXPECT_NEAR(by_nll.prior_sd / wanted.prior_sd, 1, 1e-9);
}

TEST(PosteriorChoice, KeepsWhatIsGiven) {
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  const PosteriorChoice choice = chosen(spectrum_of(s, {}, {}, {}), 0.5, {"nll", "mse", "fixed", 2});
  const PosteriorChoiceOptions unit{"nll", "mse", "unit", 2};
  EXPECT_DOUBLE_EQ(chosen(spectrum_of(s, {}, {}, {}), 0.5, unit, 3).prior_sd,
                   3 * chosen(spectrum_of(s, {}, {}, {}), 0.5, unit).prior_sd);
  EXPECT_EQ(choice.noise_var, 0.5);
  EXPECT_EQ(choice.prior_sd, 2);
}

}  // namespace
}  // namespace slimbayes
