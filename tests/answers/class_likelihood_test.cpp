#include "slimbayes/answers/class_likelihood.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

/// Returns the largest difference between the gradient of value(mean, var) and central differences.
template <class Value>
double gradient_gap(at::Tensor mean, at::Tensor var, Value value) {
  at::Tensor inputs[] = {mean.clone().requires_grad_(true), var.clone().requires_grad_(true)};
  value(inputs[0], inputs[1]).sum().backward();
  double worst = 0;
  for (int which : {0, 1}) {
    for (int64_t i = 0; i < mean.numel(); ++i) {
      auto shifted = [&](double h) {
        at::Tensor x[] = {mean.clone(), var.clone()};
        x[which].view(-1)[i] += h;
        return value(x[0], x[1]).sum().template item<double>();
      };
      double difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
      worst =
          std::max(worst, std::abs(inputs[which].grad().view(-1)[i].template item<double>() - difference));
    }
  }
  return worst;
}

TEST(Bernoulli, MatchesAnIndependentIntegral) {
  // Reference values: mpmath 1.3.0, 30 digits. The Gauss rule's error bound of 1e-6 holds up to an sd of 3.
  Latent f{row({0.3, -1}), row({0.5, 9})};
  BernoulliLikelihood l;
  Classes p = std::get<Classes>(l.predictive(f));
  EXPECT_NEAR(p.probabilities[0][1].item<double>(), 0.56701327200651272, 1e-13);
  EXPECT_NEAR(p.probabilities[1][1].item<double>(), 0.38675260547077607, 1e-6);
  at::Tensor yes = row({1, 1});
  EXPECT_NEAR(l.expected_log_prob(f, yes)[0].item<double>(), -0.61234294453431149, 1e-13);
  EXPECT_NEAR(l.expected_log_prob(f, yes)[1].item<double>(), -1.9510976684471475, 1e-6);
  EXPECT_TRUE(at::allclose(l.log_predictive(f, yes).exp(), p.probabilities.select(1, 1), 1e-12, 0));
  EXPECT_TRUE(at::allclose(l.log_predictive(f, 1 - yes).exp(), p.probabilities.select(1, 0), 1e-12, 0));
}

TEST(Energy, IsMinusTheLogOfTheSumOfExponentials) {
  const at::Tensor logits = at::tensor({1.0, 2.0, -3.0, 700.0, 800.0, 0.0}, at::kDouble).view({2, 3});
  const at::Tensor found = energy(logits.to(at::kFloat));
  EXPECT_EQ(found.scalar_type(), at::kDouble);
  EXPECT_NEAR(found[0].item<double>(), -std::log(std::exp(1) + std::exp(2) + std::exp(-3)), 1e-12);
  EXPECT_NEAR(found[1].item<double>(), -800, 1e-12);
  const at::Tensor one = row({-2, 0, 5}).unsqueeze(1);
  EXPECT_TRUE(at::allclose(energy(one), energy(at::cat({-one / 2, one / 2}, 1)), 1e-14, 0));
  EXPECT_TRUE(at::equal(energy(one), energy(-one)));  // whichever class is called 1
  EXPECT_THROW(energy(row({1, 2})), std::invalid_argument);
}

TEST(Bernoulli, AWideBeliefIsAsExactAsItsCommentSays) {
  at::Tensor mean = at::arange(-120, 121, at::kDouble), y = at::ones_like(mean);
  Latent f{mean, at::full_like(mean, 100)};
  at::Tensor z = at::linspace(-30, 30, 20001, at::kDouble), density = at::exp(-0.5 * z.square());
  BernoulliLikelihood coarse, fine{{z, density / density.sum()}};  // trapezoid rule as reference
  auto gap = [](const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); };
  Classes p = std::get<Classes>(coarse.predictive(f)), q = std::get<Classes>(fine.predictive(f));
  EXPECT_LT(gap(p.probabilities, q.probabilities), 0.01);
  EXPECT_LT(gap(p.expected_entropy, q.expected_entropy), 0.01);
  EXPECT_LT(gap(coarse.expected_log_prob(f, y), fine.expected_log_prob(f, y)), 0.01);
  EXPECT_LT(gap(coarse.log_predictive(f, y), fine.log_predictive(f, y)), 0.05);
}

// For a wide belief the sigmoid is a step between two nodes of the Gauss rule. With 64 nodes its error is
// 6e-3 at an sd of 10 and 5e-2 at an sd of 300, so the likelihood takes another integral there.
TEST(Bernoulli, ProbabilitiesAreExactHoweverWideTheBelief) {
  for (double sd : {3.1, 10.0, 40.0, 300.0}) {
    at::Tensor mean = sd * at::linspace(-6, 6, 25, at::kDouble), y = at::ones_like(mean);
    Latent f{mean, at::full_like(mean, sd * sd)};
    at::Tensor z = at::linspace(-9, 9, 40001, at::kDouble), density = at::exp(-0.5 * z.square());
    at::Tensor weights = density / density.sum(), logits = mean.unsqueeze(1) + sd * z;
    at::Tensor yes = at::mv(at::sigmoid(logits), weights), no = at::mv(at::sigmoid(-logits), weights);
    at::Tensor entropy = at::mv(-at::special_xlogy(at::sigmoid(logits), at::sigmoid(logits)) -
                                    at::special_xlogy(at::sigmoid(-logits), at::sigmoid(-logits)),
                                weights);
    BernoulliLikelihood l;
    Classes p = std::get<Classes>(l.predictive(f));
    auto gap = [](const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); };
    EXPECT_LT(gap(p.probabilities.select(1, 1), yes), 1e-10) << sd;
    EXPECT_LT(gap(p.probabilities.select(1, 0), no), 1e-10) << sd;
    EXPECT_LT(gap(p.expected_entropy, entropy), 1e-10) << sd;
    EXPECT_LT(gap(l.log_predictive(f, y).exp(), yes), 1e-10) << sd;
    EXPECT_GT(mutual_information(p).min().item<double>(), 0) << sd;
    at::Tensor loss = at::mv(at::softplus(logits) - logits, weights);
    EXPECT_LT(gap(-l.expected_log_prob(f, y), loss), std::max(0.01, 3e-3 * sd)) << sd;
  }
}

// For the widest beliefs the sigmoid acts as a step: P = Phi(mean / sd), which is at most 1.
TEST(Bernoulli, TheWidestBeliefsSeeAStep) {
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (double sd : {1e4, 1e8, 1e12}) {
      at::Tensor mean = (sd * at::linspace(-6, 6, 25, at::kDouble)).to(type), y = at::ones_like(mean);
      at::Tensor log_p = BernoulliLikelihood{}.log_predictive({mean, at::full_like(mean, sd * sd)}, y);
      EXPECT_LE(log_p.max().item<double>(), 1e-5) << sd;
      EXPECT_LT((log_p - at::special_log_ndtr(mean / sd)).abs().max().item<double>(), 5e-3) << sd;
    }
  }
}

// Far in a tail all mass lies where the sigmoid equals e^f, so log P = mean + var / 2.
TEST(Bernoulli, TheTailOfAWideBeliefIsInClosedForm) {
  Latent f{row({-200, -60, -3000}), row({16, 12, 100})};
  at::Tensor got = BernoulliLikelihood{}.log_predictive(f, row({1, 1, 1}));
  EXPECT_TRUE(at::allclose(got, f.mean + f.epistemic_var / 2, 0, 1e-3)) << got;
}

TEST(Bernoulli, WithoutVarianceItIsTheSigmoid) {
  Latent sure{row({-30, 0, 2, 800}), at::zeros({4}, at::kDouble)};
  Classes p = std::get<Classes>(BernoulliLikelihood{}.predictive(sure));
  EXPECT_TRUE(at::allclose(p.probabilities.select(1, 1), at::sigmoid(sure.mean), 1e-14, 0));
  EXPECT_LT(mutual_information(p).max().item<double>(), 1e-12);
  EXPECT_NEAR(p.predictive_entropy[1].item<double>(), std::log(2), 1e-14);
  EXPECT_EQ(p.predictive_entropy[3].item<double>(), 0);
}

TEST(Bernoulli, GradientsMatchCentralDifferences) {
  at::Tensor y = row({1, 0, 1, 0, 1}), mean = row({0.3, -1, 2, 1, -9}), var = row({0.5, 2, 0.1, 20, 50});
  for (bool expected : {true, false}) {
    double gap = gradient_gap(mean, var, [&](const at::Tensor& m, const at::Tensor& v) {
      BernoulliLikelihood l;
      return expected ? l.expected_log_prob({m, v}, y) : l.log_predictive({m, v}, y);
    });
    EXPECT_LT(gap, 1e-8);
  }
}

TEST(Softmax, OfTwoClassesIsBernoulliInTheDifference) {
  // softmax(f0, f1)_1 = sigmoid(f1 - f0), and the variances add up. The error of 4e4 draws is about 1e-3.
  Latent two{row({0.2, 0.5, 1, -1}).reshape({2, 2}), row({0.3, 0.2, 2, 1}).reshape({2, 2})};
  Latent one{two.mean.select(1, 1) - two.mean.select(1, 0), two.epistemic_var.sum(1)};
  SoftmaxLikelihood l{Stream(1), 40'000};
  BernoulliLikelihood exact;
  Classes p = std::get<Classes>(l.predictive(two)), q = std::get<Classes>(exact.predictive(one));
  EXPECT_TRUE(at::allclose(p.probabilities, q.probabilities, 0, 4e-3));
  EXPECT_TRUE(at::allclose(p.expected_entropy, q.expected_entropy, 0, 4e-3));
  EXPECT_TRUE(at::allclose(mutual_information(p), mutual_information(q), 0, 4e-3));
  at::Tensor y = row({1, 0});
  EXPECT_TRUE(at::allclose(l.log_predictive(two, y), exact.log_predictive(one, y), 0, 8e-3));
  EXPECT_TRUE(at::allclose(l.expected_log_prob(two, y), exact.expected_log_prob(one, y), 0, 2e-2));
}

TEST(Softmax, CorrelatedLogitsOfTwoClassesAreBernoulliInTheDifference) {
  // Var(f1 - f0) = v00 + v11 - 2 v01.
  const at::Tensor mean = row({0.2, 0.5, 1, -1}).reshape({2, 2});
  const at::Tensor cov = row({0.9, 0.6, 0.6, 1.1, 2, -0.5, -0.5, 0.4}).reshape({2, 2, 2});
  const at::Tensor spread =
      cov.select(1, 0).select(1, 0) + cov.select(1, 1).select(1, 1) - 2 * cov.select(1, 0).select(1, 1);
  SoftmaxLikelihood l{Stream(1), 40'000};
  Classes p = std::get<Classes>(l.predictive(mean, at::linalg_cholesky(cov)));
  Classes q =
      std::get<Classes>(BernoulliLikelihood{}.predictive({mean.select(1, 1) - mean.select(1, 0), spread}));
  EXPECT_TRUE(at::allclose(p.probabilities, q.probabilities, 0, 4e-3));
  EXPECT_TRUE(at::allclose(p.expected_entropy, q.expected_entropy, 0, 4e-3));
  // A diagonal root is that of independent logits.
  const Latent f{Stream(1).normal({50, 4}), Stream(2).uniform({50, 4})};
  Classes a = std::get<Classes>(l.predictive(f)),
          b = std::get<Classes>(l.predictive(f.mean, at::diag_embed(f.epistemic_var.sqrt())));
  EXPECT_TRUE(at::allclose(a.probabilities, b.probabilities, 1e-12, 1e-14));
}

TEST(Softmax, ProbabilitiesAreAverageSoftmaxes) {
  Latent f{Stream(1).normal({50, 4}), Stream(2).uniform({50, 4})};
  SoftmaxLikelihood l{Stream(3), 101};  // an odd number is raised to 102
  Classes p = std::get<Classes>(l.predictive(f));
  EXPECT_TRUE(at::allclose(p.probabilities.sum(1), at::ones({50}, at::kDouble), 1e-14, 1e-14));
  EXPECT_GT(mutual_information(p).min().item<double>(), 0);
  for (int64_t c = 0; c < 4; ++c) {
    at::Tensor log_p = l.log_predictive(f, at::full({50}, c, at::kDouble));
    EXPECT_TRUE(at::allclose(log_p.exp(), p.probabilities.select(1, c), 1e-12, 0));
  }
  Latent sure{f.mean, at::zeros_like(f.mean)};
  Classes q = std::get<Classes>(l.predictive(sure));
  EXPECT_TRUE(at::allclose(q.probabilities, at::softmax(f.mean, 1), 1e-13, 0));
  EXPECT_LT(mutual_information(q).max().item<double>(), 1e-13);
}

TEST(Softmax, DrawsAreSeededAndSharedByTheRows) {
  Latent f{Stream(1).normal({9, 3}), Stream(2).uniform({9, 3})};
  auto probabilities = [&](uint64_t seed, const Latent& g) {
    return std::get<Classes>(SoftmaxLikelihood{Stream(seed)}.predictive(g)).probabilities;
  };
  EXPECT_TRUE(at::equal(probabilities(1, f), probabilities(1, f)));
  EXPECT_FALSE(at::equal(probabilities(1, f), probabilities(2, f)));
  Latent reversed{f.mean.flip(0), f.epistemic_var.flip(0)};
  EXPECT_TRUE(at::allclose(probabilities(1, f), probabilities(1, reversed).flip(0), 1e-13, 0));
  // With shared = false (training) the draws differ from row to row.
  Latent same{at::zeros({2, 3}, at::kDouble), at::ones({2, 3}, at::kDouble)};
  at::Tensor y = at::zeros({2}, at::kDouble);
  at::Tensor shared = SoftmaxLikelihood{Stream(1), 8}.expected_log_prob(same, y);
  at::Tensor apart = SoftmaxLikelihood{Stream(1), 8, false}.expected_log_prob(same, y);
  EXPECT_EQ(shared[0].item<double>(), shared[1].item<double>());
  EXPECT_NE(apart[0].item<double>(), apart[1].item<double>());
}

TEST(Softmax, GradientsMatchCentralDifferences) {
  at::Tensor y = row({2, 0});
  for (bool expected : {true, false}) {
    double gap =
        gradient_gap(row({0.3, -1, 2, 0, 0.5, 1}).reshape({2, 3}),
                     row({0.5, 2, 0.1, 1, 1, 0.3}).reshape({2, 3}), [&](const auto& m, const auto& v) {
                       SoftmaxLikelihood l{Stream(4), 16, false};
                       return expected ? l.expected_log_prob({m, v}, y) : l.log_predictive({m, v}, y);
                     });
    EXPECT_LT(gap, 1e-8);
  }
}

TEST(ClassLikelihood, TrainingKeepsTheDtypeAndPredictionIsFloat64) {
  Latent one{at::zeros({3}, at::kFloat).requires_grad_(true), at::zeros({3}, at::kFloat)};
  Latent many{at::zeros({3, 2}, at::kFloat).requires_grad_(true),
              at::zeros({3, 2}, at::kFloat).requires_grad_(true)};
  at::Tensor y = at::ones({3}, at::kFloat);
  SoftmaxLikelihood softmax{Stream(1), 4};
  EXPECT_EQ(BernoulliLikelihood{}.expected_log_prob(one, y).scalar_type(), at::kFloat);
  EXPECT_EQ(BernoulliLikelihood{}.log_predictive(one, y).scalar_type(), at::kFloat);
  EXPECT_EQ(softmax.expected_log_prob(many, y).scalar_type(), at::kFloat);
  for (const Predictive& p : {BernoulliLikelihood{}.predictive(one), softmax.predictive(many)}) {
    EXPECT_EQ(std::get<Classes>(p).probabilities.scalar_type(), at::kDouble);
    EXPECT_FALSE(std::get<Classes>(p).probabilities.requires_grad());
  }
  softmax.expected_log_prob(many, y).sum().backward();  // the gradient is finite at a variance of 0
  EXPECT_TRUE(at::isfinite(many.epistemic_var.grad()).all().item<bool>());
}

TEST(ClassLikelihood, BadInputIsNamed) {
  Latent one{row({1, 2}), row({0, 0})}, many{at::zeros({2, 3}, at::kDouble), at::zeros({2, 3}, at::kDouble)};
  BernoulliLikelihood bernoulli;
  SoftmaxLikelihood softmax{Stream(1)};
  EXPECT_THROW(bernoulli.expected_log_prob(one, row({1, 2})), std::invalid_argument);
  EXPECT_THROW(bernoulli.expected_log_prob(many, row({1, 0})), std::invalid_argument);
  EXPECT_THROW(softmax.expected_log_prob(many, row({1, 3})), std::invalid_argument);
  EXPECT_THROW(softmax.expected_log_prob(many, row({1, 0.5})), std::invalid_argument);
  EXPECT_THROW(softmax.expected_log_prob(one, row({1, 0})), std::invalid_argument);
  EXPECT_THROW((SoftmaxLikelihood{Stream(1), 0}.predictive(many)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
