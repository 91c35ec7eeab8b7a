#include "slimbayes/objectives/variational_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "slimbayes/core/random.h"
#include "slimbayes/objectives/latent_gradient.h"

namespace slimbayes {
namespace {

struct Sample {
  at::Tensor features, offset;
  VariationalPosterior posterior;
};

Sample sample(int64_t b, int64_t r, int64_t k) {
  Stream s(3);
  return {0.4 * s.split("phi").normal({b, r}),
          s.split("offset").normal({k}),
          {s.split("m").normal({k, r}), 0.3 * s.split("diagonal").normal({k, r}),
           s.split("lower").normal({k, r, r})}};
}

TEST(VariationalPosterior, IsItsFormulaWrittenOutForEachFunction) {
  Sample s = sample(5, 3, 4);
  Latent f = s.posterior.latent(s.features, s.offset);
  EXPECT_EQ(f.mean.sizes(), at::IntArrayRef({5, 4}));
  double kl = 0;
  for (int64_t c = 0; c < 4; ++c) {
    const at::Tensor m = s.posterior.mean[c], d = s.posterior.log_diagonal[c];
    const at::Tensor factor = s.posterior.lower[c].tril(-1) + at::diag(d.exp());
    EXPECT_TRUE(at::allclose(f.mean.select(1, c), at::mv(s.features, m) + s.offset[c], 1e-12, 1e-12));
    EXPECT_TRUE(
        at::allclose(f.epistemic_var.select(1, c), at::mm(s.features, factor).square().sum(1), 1e-12, 1e-12));
    kl += 0.5 * (m.square().sum() + factor.square().sum() - 2 * d.sum() - 3).item<double>();
  }
  EXPECT_NEAR(s.posterior.kl().item<double>(), kl, 1e-10);
}

/// Compares the gradient of loss(sample) in every argument with central differences.
template <class Loss>
void expect_gradient(const Sample& start, Loss loss) {
  auto parts = [](Sample& s) {
    return std::vector<at::Tensor*>{&s.features, &s.offset, &s.posterior.mean, &s.posterior.log_diagonal,
                                    &s.posterior.lower};
  };
  auto copy = [&] {
    Sample s = start;
    for (at::Tensor* x : parts(s)) *x = x->clone();
    return s;
  };
  Sample s = copy();
  for (at::Tensor* x : parts(s)) x->requires_grad_(true);
  loss(s).total.backward();
  for (size_t which = 0; which < 5; ++which) {
    at::Tensor got = parts(s)[which]->grad().reshape({-1});
    for (int64_t i = 0; i < got.numel(); i += 1 + got.numel() / 7) {
      auto shifted = [&](double h) {
        Sample t = copy();
        parts(t)[which]->view(-1)[i] += h;
        return loss(t).total.template item<double>();
      };
      double difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
      EXPECT_NEAR(got[i].item<double>(), difference, 1e-6 * (1 + std::abs(difference))) << which << " " << i;
    }
  }
}

TEST(VariationalBound, GradientsMatchCentralDifferences) {
  at::Tensor labels = at::tensor({0.0, 1.0, 1.0, 0.0, 1.0}, at::kDouble);
  at::Tensor classes = at::tensor({0.0, 1.0, 2.0, 2.0, 1.0}, at::kDouble);
  at::Tensor counts = at::tensor({0.0, 3.0, 1.0, 7.0, 2.0}, at::kDouble);
  auto bound = [](const Likelihood& likelihood, const at::Tensor& y) {
    return [=](const Sample& s) {
      return variational_bound(likelihood, s.posterior.latent(s.features, s.offset), y,
                               {s.posterior, 50, 0.7});
    };
  };
  expect_gradient(sample(5, 4, 1), bound(BernoulliLikelihood{}, labels));
  expect_gradient(sample(5, 4, 3), bound(SoftmaxLikelihood{Stream(1), 8, false}, classes));
  expect_gradient(sample(5, 4, 1), bound(PoissonLikelihood{}, counts));
  expect_gradient(sample(5, 4, 1), [](const Sample& s) {
    return cox_bound(s.posterior.latent(s.features, s.offset), at::full({3}, 2.0 / 3, at::kDouble),
                     {s.posterior, 50, 0.7});
  });
}

/// Compares latent_gradient with automatic differentiation of the same loss, with and without a correction.
void expect_closed_form(const Sample& start, const std::function<at::Tensor(const Latent&)>& data) {
  for (const bool corrected : {false, true}) {
    Sample s = start;
    at::Tensor correction = 0.1 + Stream(5).uniform(at::IntArrayRef{s.features.size(0)});
    std::vector<at::Tensor*> all = {&s.features,        &s.posterior.mean, &s.posterior.log_diagonal,
                                    &s.posterior.lower, &s.offset,         &correction};
    for (at::Tensor* x : all) *x = x->clone().requires_grad_(true);
    const WeightedKl kl{s.posterior, 50, 0.7};
    Latent f = s.posterior.latent(s.features, s.offset);
    if (corrected) f.epistemic_var = f.epistemic_var + correction.unsqueeze(1);
    const at::Tensor wanted = data(f) + 0.7 / 50 * s.posterior.kl();
    wanted.backward();
    const LatentGradient got =
        latent_gradient(s.features, corrected ? correction : at::Tensor(), s.offset, kl, data);
    EXPECT_NEAR(got.loss.total.item<double>(), wanted.item<double>(), 1e-12);
    const std::vector<at::Tensor> gradients = {got.grad_features, got.grad_mean,   got.grad_log_diagonal,
                                               got.grad_lower,    got.grad_offset, got.grad_correction};
    for (size_t i = 0; i < (corrected ? 6 : 5); ++i)
      EXPECT_TRUE(at::allclose(gradients[i], all[i]->grad(), 1e-9, 1e-12)) << i;
  }
}

TEST(LatentGradient, IsThatOfAutomaticDifferentiation) {
  const at::Tensor labels = at::tensor({0.0, 1.0, 1.0, 0.0, 1.0}, at::kDouble);
  const at::Tensor classes = at::tensor({0.0, 1.0, 2.0, 2.0, 1.0}, at::kDouble);
  const at::Tensor counts = at::tensor({0.0, 3.0, 1.0, 7.0, 2.0}, at::kDouble);
  const auto data = [](const Likelihood& likelihood, const at::Tensor& y) {
    return [=](const Latent& f) { return -expected_log_prob(likelihood, f, y).mean(); };
  };
  expect_closed_form(sample(5, 4, 1), data(BernoulliLikelihood{}, labels));
  expect_closed_form(sample(5, 4, 3), data(SoftmaxLikelihood{Stream(1), 8, false}, classes));
  expect_closed_form(sample(5, 4, 1), data(PoissonLikelihood{}, counts));
  expect_closed_form(sample(5, 4, 1),
                     [](const Latent& f) { return cox_data(f, at::full({3}, 2.0 / 3, at::kDouble), 50); });
}

TEST(VariationalBound, IsTheDataTermAndTheKl) {
  Sample s = sample(5, 4, 1);
  at::Tensor y = at::ones({5}, at::kDouble);
  Latent f = s.posterior.latent(s.features, s.offset);
  VariationalLoss loss = variational_bound(BernoulliLikelihood{}, f, y, {s.posterior, 50, 2});
  Latent one{f.mean.squeeze(1), f.epistemic_var.squeeze(1)};
  EXPECT_NEAR(loss.data.item<double>(),
              -BernoulliLikelihood{}.expected_log_prob(one, y).mean().item<double>(), 1e-12);
  EXPECT_NEAR(loss.total.item<double>(), loss.data.item<double>() + 2.0 / 50 * loss.kl.item<double>(), 1e-12);
  // A likelihood with one latent function refuses a latent with two.
  EXPECT_THROW(
      variational_bound(PoissonLikelihood{}, {at::zeros({5, 2}), at::zeros({5, 2})}, y, {s.posterior, 50}),
      std::invalid_argument);
}

TEST(CoxBound, AConstantIntensityIsBestAtTheCount) {
  // With n events in a volume of 4 and a constant f = c, the loss exp(c) 4 / n - c is least at exp(c) = n /
  // 4.
  const int64_t n = 30;
  VariationalPosterior none{at::zeros({1, 1}, at::kDouble), at::full({1, 1}, -20, at::kDouble),
                            at::zeros({1, 1, 1}, at::kDouble)};
  at::Tensor weights = at::full({25}, 4.0 / 25, at::kDouble);
  auto loss = [&](double c) {
    const Latent f{at::full({28, 1}, c, at::kDouble), at::zeros({28, 1}, at::kDouble)};  // 3 events, 25 nodes
    return cox_bound(f, weights, {none, static_cast<double>(n)}).data.item<double>();
  };
  double best = std::log(30 / 4.0);
  EXPECT_NEAR(loss(best), 1 - best, 1e-12);
  EXPECT_GT(loss(best + 0.01), loss(best));
  EXPECT_GT(loss(best - 0.01), loss(best));
}

}  // namespace
}  // namespace slimbayes
