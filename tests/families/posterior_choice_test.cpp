#include "slimbayes/families/posterior_choice.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"
#include "slimbayes/core/threads.h"

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

/// Returns the least score of a dense scan, `steps` steps to each range, and where it is, found by
/// `score(noise, sd)`.
template <class Score>
std::pair<double, PosteriorChoice> least(double mse, double unit, int steps, Score score) {
  PosteriorChoice best;
  double low = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= steps; ++i) {
    for (int k = 0; k <= steps; ++k) {
      const double noise = 1e-3 * mse * std::pow(2000.0, static_cast<double>(i) / steps),
                   sd = 1e-2 * unit * std::pow(1e3, static_cast<double>(k) / steps);
      const double now = score(noise, sd);
      if (now < low) low = now, best = {noise, sd};
    }
  }
  return {low, best};
}

/// Expects a choice with a score no larger than that of the documented grid, and close to the optimum of a
/// dense scan.
template <class Score>
void expect_best(const PosteriorChoice& choice, double mse, double unit, Score score) {
  const double found = score(choice.noise_var, choice.prior_sd);
  EXPECT_LE(found, least(mse, unit, 24, score).first * (1 + 1e-12));
  const auto [low, best] = least(mse, unit, 400, score);
  EXPECT_LE(found, low + 1e-5);
  EXPECT_NEAR(std::sqrt(choice.noise_var / best.noise_var), 1, 0.02);  // the scan's steps are 1 % in sd
  EXPECT_NEAR(choice.prior_sd / best.prior_sd, 1, 0.04);
}

TEST(PosteriorChoice, MaximisesTheEvidenceOrTheValidationNll) {
  const ThreadScope one(1);
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  const double mse = valid.y.square().mean().item<double>();
  const double unit = 1 / std::sqrt(train.features.mm(t).square().sum(1).mean().item<double>());
  // Both scores by one eigendecomposition of T^T Phi^T Phi T, as arrays of double: the scan takes 160,801.
  const auto [values, vectors] = at::linalg_eigh(t.t().mm(s.S).mm(t));
  const auto numbers = [](const at::Tensor& x) {
    const at::Tensor flat = x.contiguous().flatten();
    return std::vector<double>(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
  };
  const std::vector<double> lambda = numbers(values), c2 = numbers(vectors.t().mv(t.t().mv(s.c)).square()),
                            f2 = numbers(valid.features.mm(t).mm(vectors).square()), r = numbers(valid.y);

  const auto evidence = [&](double noise, double sd) {  // -log evidence / n
    double sum = 80 * std::log(noise) + s.yy / noise;
    for (size_t j = 0; j < lambda.size(); ++j) {
      const double h = 1 + lambda[j] * sd * sd / noise;
      sum += std::log(h) - c2[j] / h * sd * sd / (noise * noise);
    }
    return 0.5 * (sum / 80 + std::log(2 * std::numbers::pi));
  };
  EXPECT_NEAR(evidence(0.2, 0.7), -log_evidence(linear_posterior(s, {0.2, 0.7 * t})) / 80, 1e-9);
  expect_best(chosen(spectrum_of(s, t, {}, {}), mse, {"evidence", "select", "select", 1}), mse, unit,
              evidence);

  const auto nll = [&](double noise, double sd) {
    double sum = 0;
    for (size_t i = 0; i < r.size(); ++i) {
      double var = noise;
      for (size_t j = 0; j < lambda.size(); ++j)
        var += f2[i * lambda.size() + j] * sd * sd / (1 + lambda[j] * sd * sd / noise);
      sum += 0.5 * (std::log(2 * std::numbers::pi * var) + r[i] * r[i] / var);
    }
    return sum / static_cast<double>(r.size());
  };
  const at::Tensor var = 0.2 + epistemic_var(linear_posterior(s, {0.2, 0.7 * t}), valid.features);
  EXPECT_NEAR(nll(0.2, 0.7),
              0.5 * ((2 * std::numbers::pi * var).log() + valid.y.square() / var).mean().item<double>(),
              1e-9);
  const PosteriorSpectrum spectrum = spectrum_of(s, t, valid.features, valid.y);
  expect_best(chosen(spectrum, mse, {"nll", "select", "select", 1}), mse, unit, nll);
  // Of a given prior the noise alone is refined.
  const PosteriorChoice noise_alone = chosen(spectrum, mse, {"nll", "select", "fixed", 0.7});
  EXPECT_EQ(noise_alone.prior_sd, 0.7);
  double scanned = 0, low = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 4000; ++i) {
    const double noise = 1e-3 * mse * std::pow(2000.0, i / 4000.0), now = nll(noise, 0.7);
    if (now < low) low = now, scanned = noise;
  }
  EXPECT_NEAR(std::sqrt(noise_alone.noise_var / scanned), 1, 2e-3);
}

TEST(PosteriorChoice, FindsTheNoiseOfItsRows) {
  // Many rows, few weights: the noise sd of 0.3 is known to about 1 / sqrt(2 n) = 1 %.
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(5000, 3, t), valid = residuals(5000, 4, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  const double mse = 1.5 * 0.09;  // anywhere in the range
  const PosteriorChoiceOptions evidence{"evidence", "select", "unit", 1};
  EXPECT_NEAR(std::sqrt(chosen(spectrum_of(s, t, {}, {}), mse, evidence).noise_var), 0.3, 0.01);
}

TEST(PosteriorChoice, SaysThatTheBestIsTheEndOfTheRange) {
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  const PosteriorSpectrum spectrum = spectrum_of(s, t, {}, {});
  const PosteriorChoiceOptions by_evidence{"evidence", "select", "select", 1};
  // The noise is 0.09, but the validation rows hardly err.
  const Residuals valid = residuals(50, 4, t);
  const PosteriorChoice largest =
      chosen(spectrum_of(s, t, valid.features, 1e-3 * valid.y), 0.01, by_evidence);
  EXPECT_DOUBLE_EQ(largest.noise_var, 0.02);
  ASSERT_EQ(largest.notes.size(), 1u);
  EXPECT_NE(largest.notes[0].find("largest of its range, 2 times"), std::string::npos);
  const PosteriorChoice least = chosen(spectrum, 1000, by_evidence);
  EXPECT_DOUBLE_EQ(least.noise_var, 1);
  EXPECT_NE(least.notes.at(0).find("least of its range, 0.001"), std::string::npos);
  // Residuals that the network's features do not explain at all.
  LinearStatistics noise = s;
  noise.c = at::zeros_like(s.c);
  const PosteriorChoice none = chosen(spectrum_of(noise, t, {}, {}), s.yy / 80, by_evidence);
  EXPECT_NE(none.notes.at(0).find("prior sd is the least of its range"), std::string::npos);
  // The validation rows here have larger errors than the network's own had: the range has room for them.
  const PosteriorChoice other =
      chosen(spectrum_of(s, t, valid.features, 10 * valid.y), 0.01, {"nll", "select", "unit", 1});
  EXPECT_GT(other.noise_var, 1);
  EXPECT_TRUE(other.notes.empty());
}

TEST(PosteriorChoice, AScoreThatIsNotFiniteIsNeverChosen) {
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  PosteriorSpectrum spectrum = spectrum_of(s, t, valid.features, valid.y);
  // Negative where the noise is small: its logarithm is none.
  spectrum.extra = at::full({50}, -0.2, at::kDouble);
  const PosteriorChoiceOptions by_nll{"nll", "select", "fixed", 1};
  const PosteriorChoice choice = chosen(spectrum, 1, by_nll);
  EXPECT_GT(choice.noise_var, 0.1);
  EXPECT_TRUE(std::isfinite(choice.noise_var));
  spectrum.extra = at::full({50}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  EXPECT_THROW(chosen(spectrum, 1, by_nll), NumericalError);
}

TEST(PosteriorChoice, ARangeWithoutEndsIsRefused) {
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kRank), {train.features, train.y, {}});
  const PosteriorSpectrum spectrum = spectrum_of(s, t, valid.features, valid.y);
  for (double mse : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(chosen(spectrum, mse, {"nll", "select", "unit", 1}), std::invalid_argument) << mse;
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
  // Validation rows on which a network from elsewhere errs more: the noise stays, so that models merge.
  const at::Tensor harder = at::full({10}, 2.0, at::kDouble), features = Stream(5).normal({10, kRank});
  const PosteriorSpectrum elsewhere = spectrum_of(s, {}, features, harder);
  const PosteriorChoice noted = chosen(elsewhere, 0.5, {"nll", "mse", "fixed", 2});
  EXPECT_EQ(noted.noise_var, 0.5);
  ASSERT_EQ(noted.notes.size(), 1);
  EXPECT_NE(noted.notes[0].find("the 10 validation rows here have a mean squared error 8 times as large"),
            std::string::npos);
  EXPECT_TRUE(chosen(elsewhere, 2.1, {"nll", "mse", "fixed", 2}).notes.empty());
  // Without validation rows the training rows tell.
  const auto alone = [&](double times) {
    return chosen(spectrum_of(s, {}, {}, {}), times * s.yy / 80, {"nll", "mse", "fixed", 2}).notes.size();
  };
  EXPECT_EQ(alone(0.3), 1);
  EXPECT_EQ(alone(1), 0);
  EXPECT_EQ(choice.prior_sd, 2);
}

}  // namespace
}  // namespace slimbayes
