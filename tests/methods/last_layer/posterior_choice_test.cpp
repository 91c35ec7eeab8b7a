#include "slimbayes/methods/last_layer/posterior_choice.h"

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

constexpr int64_t kChoiceRank = 6;

struct Residuals {
  at::Tensor features, y;
};

/// Returns residuals y = phi^T w + 0.3 noise with w ~ N(0, 4 T T^T).
Residuals residuals(int64_t n, uint64_t seed, const at::Tensor& t) {
  const Stream s(seed);
  const at::Tensor phi = s.split("phi").normal({n, kChoiceRank}),
                   w = 2 * t.mv(Stream(1).normal({kChoiceRank}));
  return {phi, phi.mv(w) + 0.3 * s.split("noise").normal({n})};
}

at::Tensor prior_factor() {
  return at::eye(kChoiceRank, at::kDouble) + 0.3 * Stream(2).normal({kChoiceRank, kChoiceRank}).tril();
}

at::Tensor trained_weights() { return 1.3 * Stream(6).normal({kChoiceRank}); }

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

/// Returns the prior sd of "unit" for these rows and this prior factor.
double unit_of(const Residuals& train, const at::Tensor& t) {
  return 1 / std::sqrt(train.features.mm(t).square().sum(1).mean().item<double>());
}

std::vector<double> numbers(const at::Tensor& x) {
  const at::Tensor flat = x.contiguous().flatten();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

TEST(PosteriorChoice, MinimisesTheValidationNll) {
  const ThreadScope one(1);
  const at::Tensor t = prior_factor(), w = trained_weights();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const double mse = valid.y.square().mean().item<double>(), unit = unit_of(train, t);
  // The score by one eigendecomposition of T^T Phi^T Phi T, as arrays of double: the scan takes 160,801.
  const auto [values, vectors] = at::linalg_eigh(t.t().mm(s.S).mm(t));
  const std::vector<double> lambda = numbers(values), f2 = numbers(valid.features.mm(t).mm(vectors).square()),
                            r = numbers(valid.y);
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
  const PosteriorSpectrum spectrum = spectrum_of(s, t, w, valid.features, valid.y);
  expect_best(chosen(spectrum, {mse}, {"nll", "select", "select", 1}, unit), mse, unit, nll);
  // Of a given prior the noise alone is refined.
  const PosteriorChoice noise_alone = chosen(spectrum, {mse}, {"nll", "select", "fixed", 0.7}, unit);
  EXPECT_EQ(noise_alone.prior_sd, 0.7);
  double scanned = 0, low = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 4000; ++i) {
    const double noise = 1e-3 * mse * std::pow(2000.0, i / 4000.0), now = nll(noise, 0.7);
    if (now < low) low = now, scanned = noise;
  }
  EXPECT_NEAR(std::sqrt(noise_alone.noise_var / scanned), 1, 2e-3);
}

TEST(PosteriorChoice, TheEvidenceIsTheLaplaceApproximationOfTheIntegral) {
  // y = f + Phi (v - w) + noise with v ~ N(0, s^2 T T^T): linear in v, so that the approximation around the
  // trained weights w differs from the integral by the misfit of w alone, and not at all where w is the mode.
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t);
  const double noise = 0.2, sd = 0.7;
  const LinearStatistics targets = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const LinearPosterior exact = linear_posterior(targets, {noise, sd * t});
  const at::Tensor w = exact.weights;  // the mode, as if a network had been trained to it
  const LinearStatistics left =
      added(linear_statistics(kChoiceRank), {train.features, train.y - train.features.mv(w), {}});
  const PosteriorSpectrum spectrum = spectrum_of(left, t, w, {}, {});
  EXPECT_NEAR(80 * laplace_evidence(spectrum, noise, sd), log_evidence(exact), 1e-8);
}

TEST(PosteriorChoice, TheEvidenceChoosesThePriorAndLeavesTheNoise) {
  const at::Tensor t = prior_factor(), w = trained_weights();
  const Residuals train = residuals(80, 3, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const double unit = unit_of(train, t);
  const PosteriorSpectrum spectrum = spectrum_of(s, t, w, {}, {});
  for (const double mse : {0.02, 0.09, 1.0}) {
    const PosteriorChoice choice = chosen(spectrum, {mse}, {"evidence", "select", "select", 1}, unit);
    EXPECT_EQ(choice.noise_var, mse);  // of rows that the network was not fitted to
    // At the maximum s^2 = ||T^-1 w||^2 / gamma with gamma = sum s^2 lambda / (sigma2 + s^2 lambda)
    // (MacKay 1992), which a collapse towards the residuals' own prior, s = 0, is far from.
    const at::Tensor turned = choice.prior_sd * choice.prior_sd * spectrum.eigenvalues;
    const double gamma = (turned / (mse + turned)).sum().item<double>();
    EXPECT_NEAR(choice.prior_sd / std::sqrt(spectrum.weights_squared / gamma), 1, 1e-4) << mse;
    for (const std::string& note : choice.notes)
      EXPECT_EQ(note.find("of its range"), std::string::npos) << note;
  }
}

TEST(PosteriorChoice, RowsThatMayHaveTrainedTheNetworkRaiseItsNoiseOnly) {
  const at::Tensor t = prior_factor(), w = trained_weights();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const double unit = unit_of(train, t), mse = valid.y.square().mean().item<double>();
  const PosteriorChoiceOptions by_nll{"nll", "select", "unit", 1};
  const auto noise_at = [&](double times, bool unseen) {  // errors `times` those that the network had
    return chosen(spectrum_of(s, t, w, valid.features, times * valid.y), {mse, unseen}, by_nll, 0.1 * unit);
  };
  EXPECT_LT(noise_at(0.3, true).noise_var, 0.5 * mse);
  EXPECT_EQ(noise_at(0.3, false).noise_var, mse);
  ASSERT_EQ(noise_at(0.3, false).notes.size(), 1u);
  EXPECT_NE(noise_at(0.3, false).notes[0].find("may have trained it"), std::string::npos);
  EXPECT_GT(noise_at(3, false).noise_var, 2 * mse);
}

TEST(PosteriorChoice, SaysThatTheBestIsTheEndOfTheRange) {
  const at::Tensor t = prior_factor(), w = trained_weights();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const double unit = unit_of(train, t), here = valid.y.square().mean().item<double>();
  const auto at = [&](double mse, const PosteriorChoiceOptions& options, double around) {
    return chosen(spectrum_of(s, t, w, valid.features, valid.y), {mse}, options, around);
  };
  const PosteriorChoice least = at(1000 * here, {"nll", "select", "fixed", 1e-3}, unit);
  EXPECT_DOUBLE_EQ(least.noise_var, here);  // 0.001 of the range's mse
  EXPECT_NE(least.notes.at(0).find("least of its range, 0.001"), std::string::npos);
  const PosteriorChoice low = at(here, {"evidence", "mse", "select", 1}, 1e4);
  EXPECT_DOUBLE_EQ(low.prior_sd, 100);
  EXPECT_NE(low.notes.at(0).find("prior sd is the least of its range"), std::string::npos);
  const PosteriorChoice high = at(here, {"evidence", "mse", "select", 1}, 1e-4);
  EXPECT_DOUBLE_EQ(high.prior_sd, 1e-3);
  EXPECT_NE(high.notes.at(0).find("prior sd is the largest of its range"), std::string::npos);
  // The validation rows here have larger errors than the network's own had: the range has room for them.
  const PosteriorChoice other =
      chosen(spectrum_of(s, t, w, valid.features, 10 * valid.y), {0.01}, {"nll", "select", "unit", 1}, unit);
  EXPECT_GT(other.noise_var, 1);
  EXPECT_TRUE(other.notes.empty());
}

TEST(PosteriorChoice, AScoreThatIsNotFiniteIsNeverChosen) {
  const at::Tensor t = prior_factor(), w = trained_weights();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  PosteriorSpectrum spectrum = spectrum_of(s, t, w, valid.features, valid.y);
  // Negative where the noise is small: its logarithm is none.
  spectrum.extra = at::full({50}, -0.2, at::kDouble);
  const PosteriorChoiceOptions by_nll{"nll", "select", "fixed", 1};
  const PosteriorChoice choice = chosen(spectrum, {1}, by_nll, 1);
  EXPECT_GT(choice.noise_var, 0.1);
  EXPECT_TRUE(std::isfinite(choice.noise_var));
  spectrum.extra = at::full({50}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  EXPECT_THROW(chosen(spectrum, {1}, by_nll, 1), NumericalError);
}

TEST(PosteriorChoice, ARangeWithoutEndsIsRefused) {
  const at::Tensor t = prior_factor();
  const Residuals train = residuals(80, 3, t), valid = residuals(50, 4, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const PosteriorSpectrum spectrum = spectrum_of(s, t, trained_weights(), valid.features, valid.y);
  for (double mse : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(chosen(spectrum, {mse}, {"nll", "select", "unit", 1}, 1), std::invalid_argument) << mse;
}

TEST(PosteriorChoice, KeepsWhatIsGiven) {
  const at::Tensor t = prior_factor(), w = trained_weights();
  const Residuals train = residuals(80, 3, t);
  const LinearStatistics s = added(linear_statistics(kChoiceRank), {train.features, train.y, {}});
  const PosteriorSpectrum without = spectrum_of(s, {}, w, {}, {});
  const PosteriorChoiceOptions fixed{"nll", "mse", "fixed", 2};
  const PosteriorChoice choice = chosen(without, {0.5}, fixed, 3);
  EXPECT_EQ(choice.noise_var, 0.5);
  EXPECT_EQ(choice.prior_sd, 2);
  EXPECT_EQ(chosen(without, {0.5}, {"nll", "mse", "unit", 2}, 3).prior_sd, 3);
  // Validation rows on which a network from elsewhere errs more: the noise stays, so that models merge.
  const at::Tensor harder = at::full({10}, 2.0, at::kDouble), features = Stream(5).normal({10, kChoiceRank});
  const PosteriorSpectrum elsewhere = spectrum_of(s, {}, w, features, harder);
  const PosteriorChoice noted = chosen(elsewhere, {0.5}, fixed, 3);
  EXPECT_EQ(noted.noise_var, 0.5);
  ASSERT_EQ(noted.notes.size(), 1);
  EXPECT_NE(noted.notes[0].find("the 10 validation rows here have a mean squared error 8 times as large"),
            std::string::npos);
  EXPECT_TRUE(chosen(elsewhere, {2.1}, fixed, 3).notes.empty());
  // Without validation rows the training rows tell.
  const auto alone = [&](double times) {
    return chosen(without, {times * s.yy / 80}, fixed, 3).notes.size();
  };
  EXPECT_EQ(alone(0.3), 1);
  EXPECT_EQ(alone(1), 0);
}

}  // namespace
}  // namespace slimbayes
