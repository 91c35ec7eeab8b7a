#include "slimbayes/objectives/head_gradient.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <tuple>
#include <vector>

#include "slimbayes/core/random.h"
#include "tests/objectives/plain_forms.h"

namespace slimbayes {
namespace {

struct Case {
  at::Tensor phi, y, mean, log_diagonal, lower, offset, log_noise;

  explicit Case(int64_t b = 7, int64_t r = 4) {
    Stream s(3);
    phi = s.split("phi").normal({b, r});
    y = s.split("y").normal(at::IntArrayRef{b});
    mean = s.split("m").normal({1, r});
    log_diagonal = 0.3 * s.split("d").normal({1, r});
    lower = s.split("l").normal({1, r, r});
    offset = at::full({1}, 0.2, at::kDouble);
    log_noise = at::full({}, -1.0, at::kDouble);
  }
  VariationalPosterior posterior() const { return {mean, log_diagonal, lower}; }

  VariationalLoss loss(double alpha = 0.3, double beta = 0.7) const {  // dPPGP
    return gaussian_bound(phi, {}, y, posterior(), offset, at::exp(log_noise), 20,
                          {DataTerm::predictive, alpha, beta});
  }
};

TEST(Dppgp, EqualsItsFormulaWrittenOut) {
  Case c;
  at::Tensor factor = c.lower[0].clone().tril(-1);
  for (int64_t i = 0; i < 4; ++i) factor[i][i] = std::exp(c.log_diagonal[0][i].item<double>());
  double noise = std::exp(-1.0), data = 0, most = 0, sum = 0;
  for (int64_t i = 0; i < 7; ++i) {
    at::Tensor phi = c.phi[i];
    double mean = at::dot(phi, c.mean[0]).item<double>() + 0.2;
    double variance = at::mv(factor.t(), phi).square().sum().item<double>() + noise;
    double error = c.y[i].item<double>() - mean;
    data += 0.5 * (std::log(2 * std::numbers::pi * variance) + error * error / variance) / 7;
    double norm = phi.square().sum().item<double>();
    most = std::max(most, norm);
    sum += norm / 7;
  }
  double kl =
      0.5 * (c.mean.square().sum() + factor.square().sum() - 2 * c.log_diagonal.sum() - 4).item<double>();
  VariationalLoss loss = c.loss();
  EXPECT_NEAR(loss.data.item<double>(), data, 1e-12);
  EXPECT_NEAR(loss.kl.item<double>(), kl, 1e-12);
  EXPECT_NEAR(loss.total.item<double>(), data + 0.3 * (most - sum) / (2 * noise) + 0.7 / 20 * kl, 1e-12);
}

TEST(Dppgp, KlIsZeroAtThePrior) {
  VariationalPosterior prior{at::zeros({1, 5}, at::kDouble), at::zeros({1, 5}, at::kDouble),
                             at::zeros({1, 5, 5}, at::kDouble)};
  EXPECT_EQ(prior.kl().item<double>(), 0);
}

TEST(Dppgp, KlIgnoresWhatLiesAboveTheDiagonal) {
  Case c;
  const VariationalPosterior q = c.posterior(), same{c.mean, c.log_diagonal, c.lower.tril(-1)};
  EXPECT_EQ(q.kl().item<double>(), same.kl().item<double>());
}

TEST(Dppgp, GradientsEqualCentralDifferences) {
  Case c;
  for (at::Tensor Case::*field :
       {&Case::phi, &Case::mean, &Case::log_diagonal, &Case::lower, &Case::offset, &Case::log_noise}) {
    at::Tensor& x = c.*field;
    x.set_requires_grad(true);
    c.loss().total.backward();
    at::Tensor grad = x.grad().clone().reshape({-1});
    x = x.detach().clone();
    at::Tensor flat = x.view({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      constexpr double kStep = 1e-6;
      double at_x = flat[i].item<double>();
      flat[i] = at_x + kStep;
      double high = c.loss().total.item<double>();
      flat[i] = at_x - kStep;
      double low = c.loss().total.item<double>();
      flat[i] = at_x;
      EXPECT_NEAR(grad[i].item<double>(), (high - low) / (2 * kStep),
                  1e-7 * (1 + std::abs(grad[i].item<double>())));
    }
  }
}

using Data = DataTerm;

/// One of the five objectives. `corrected` says whether it has the correction of inducing points.
struct Objective {
  const char* name;
  bool corrected;
  HeadObjective settings;

  VariationalLoss loss(const Case& c, const at::Tensor& correction, const at::Tensor& noise_var) const {
    return gaussian_bound(c.phi, correction, c.y, c.posterior(), c.offset, noise_var, 20, settings);
  }
};

const Objective kObjectives[] = {{"dppgp", false, {Data::predictive, 0.3, 0.7}},
                                 {"ppgp", true, {Data::predictive, 0, 0.7}},
                                 {"svgp", true, {Data::expected, 0, 1}},
                                 {"vbll", false, {Data::expected, 0, 1}},
                                 {"sv-dbk", false, {Data::expected, 1, 1}}};

TEST(HeadGradient, EqualsAutomaticDifferentiationOfEachObjective) {
  auto same = [](const at::Tensor& a, const at::Tensor& b) { return at::allclose(a, b, 1e-12, 1e-13); };
  for (const Objective& objective : kObjectives) {
    SCOPED_TRACE(objective.name);
    Case c(9, 5);
    for (at::Tensor Case::*field :
         {&Case::phi, &Case::mean, &Case::log_diagonal, &Case::lower, &Case::offset}) {
      (c.*field).set_requires_grad(true);
    }
    at::Tensor noise = at::exp(c.log_noise).detach().set_requires_grad(true);
    at::Tensor correction;
    if (objective.corrected) correction = Stream(7).uniform(at::IntArrayRef{9}).set_requires_grad(true);
    const VariationalPosterior q = c.posterior();
    VariationalLoss loss = objective.loss(c, correction, noise);
    loss.total.backward();
    HeadGradient g = head_gradient({c.phi, correction, c.y, 20}, {q, c.offset, noise}, objective.settings);
    EXPECT_TRUE(same(g.loss.total, loss.total) && same(g.loss.data, loss.data) && same(g.loss.kl, loss.kl));
    EXPECT_TRUE(same(g.grad_features, c.phi.grad()));
    EXPECT_EQ(g.grad_correction.defined(), objective.corrected);
    if (objective.corrected) {
      EXPECT_TRUE(same(g.grad_correction, correction.grad()));
    }
    EXPECT_TRUE(same(g.grad_mean, c.mean.grad()));
    EXPECT_TRUE(same(g.grad_log_diagonal, c.log_diagonal.grad()));
    EXPECT_TRUE(same(g.grad_lower, c.lower.grad()));
    EXPECT_TRUE(same(g.grad_offset, c.offset.grad()));
    EXPECT_TRUE(same(g.grad_noise_var, noise.grad()));
  }
}

TEST(HeadGradient, OfEachObjectiveEqualsCentralDifferences) {
  for (const Objective& objective : kObjectives) {
    SCOPED_TRACE(objective.name);
    Case c;
    at::Tensor correction;
    if (objective.corrected) correction = Stream(7).uniform(at::IntArrayRef{7});
    auto loss = [&] { return objective.loss(c, correction, at::exp(c.log_noise)).total.item<double>(); };
    HeadGradient g = head_gradient({c.phi, correction, c.y, 20},
                                   {{c.mean, c.log_diagonal, c.lower}, c.offset, at::exp(c.log_noise)},
                                   objective.settings);
    auto agree = [&](at::Tensor& x, const at::Tensor& grad) {
      for (int64_t i = 0; i < x.numel(); ++i) {
        constexpr double kStep = 1e-6;
        at::Tensor at_i = x.view({-1})[i];
        double before = at_i.item<double>();
        at_i.fill_(before + kStep);
        double high = loss();
        at_i.fill_(before - kStep);
        double low = loss();
        at_i.fill_(before);
        double mine = grad.reshape({-1})[i].item<double>();
        EXPECT_NEAR(mine, (high - low) / (2 * kStep), 1e-7 * (1 + std::abs(mine)));
      }
    };
    agree(c.phi, g.grad_features);
    if (objective.corrected) agree(correction, g.grad_correction);
    agree(c.mean, g.grad_mean);
    agree(c.log_diagonal, g.grad_log_diagonal);
    agree(c.lower, g.grad_lower);
    agree(c.offset, g.grad_offset);
    agree(c.log_noise, g.grad_noise_var * at::exp(c.log_noise));
  }
}

TEST(VariationalBound, TheExpectedDataTermIsThatOfSamples) {
  Case c;
  at::Tensor correction = Stream(7).uniform(at::IntArrayRef{7}), noise = at::exp(c.log_noise);
  Latent f = c.posterior().latent(c.phi, c.offset);
  at::Tensor sd = (f.epistemic_var.squeeze(1) + correction).sqrt();
  at::Tensor sample = f.mean.squeeze(1) + sd * Stream(11).normal({200000, 7});
  at::Tensor log_prob = -0.5 * ((c.y - sample).square() / noise + at::log(2 * std::numbers::pi * noise));
  at::Tensor rows = log_prob.mean(1);  // [200000]
  double error = rows.std().item<double>() / std::sqrt(200000.0);
  VariationalLoss loss = kObjectives[2].loss(c, correction, noise);
  EXPECT_NEAR(loss.data.item<double>(), -rows.mean().item<double>(), 5 * error);
}

TEST(HeadGradient, FocusWeighsRowsByTheirVariance) {
  Case c(9, 5);
  const VariationalPosterior q = c.posterior();
  at::Tensor noise = at::exp(c.log_noise);
  c.phi.set_requires_grad(true);
  Latent f = q.latent(c.phi, c.offset);
  at::Tensor weight = (f.epistemic_var.squeeze(1) + noise).detach().pow(0.5);
  (-log_predictive(GaussianLikelihood{noise}, f, c.y) * weight / weight.mean()).mean().backward();
  HeadGradient g =
      head_gradient({c.phi.detach(), {}, c.y, 20}, {q, c.offset, noise}, {Data::predictive, 0, 0}, 0.5);
  EXPECT_TRUE(at::allclose(g.grad_features, c.phi.grad(), 1e-12, 1e-13));
}

TEST(HeadGradient, AFullFocusMovesTheMeanAsSquaredErrorDoes) {
  Case c(9, 5);
  const VariationalPosterior q = c.posterior();
  at::Tensor noise = at::exp(c.log_noise);
  Latent f = q.latent(c.phi, c.offset);
  at::Tensor mean_var = (f.epistemic_var + noise).mean();  // the weights are divided by their mean
  at::Tensor offset = c.offset.detach().clone().set_requires_grad(true);
  (0.5 * (c.y - q.latent(c.phi, offset).mean.squeeze(1)).square()).mean().backward();
  HeadGradient g =
      head_gradient({c.phi.detach(), {}, c.y, 20}, {q, c.offset, noise}, {Data::predictive, 0, 0}, 1);
  EXPECT_NEAR((g.grad_offset * mean_var).item<double>(), offset.grad().item<double>(), 1e-12);
}

// The same loss by automatic differentiation and, for the degrees of freedom, by central differences, which
// know few digits at 3000: log Gamma(1500) is 9,467.
TEST(HeadGradient, OfAStudentPredictiveIsThatOfItsFormula) {
  for (const auto& [dof, focus] : {std::pair{2.5, 0.0}, {7.0, 0.5}, {3000.0, 0.0}}) {
    SCOPED_TRACE(dof);
    Case c(9, 5);
    const VariationalPosterior q = c.posterior();
    at::Tensor noise = at::exp(c.log_noise).detach().set_requires_grad(true);
    at::Tensor correction = Stream(7).uniform(at::IntArrayRef{9}).set_requires_grad(true);
    for (at::Tensor Case::*field : {&Case::phi, &Case::mean, &Case::offset})
      (c.*field).set_requires_grad(true);
    const auto loss = [&](double at) {
      Latent f = q.latent(c.phi, c.offset);
      f.epistemic_var = f.epistemic_var + correction.unsqueeze(1);
      const at::Tensor weight = (f.epistemic_var.squeeze(1) + noise).detach().pow(focus);
      return (-log_predictive(StudentLikelihood{noise, at}, f, c.y) * weight / weight.mean()).mean();
    };
    const at::Tensor whole = loss(dof);
    whole.backward();
    const HeadGradient g = head_gradient({c.phi.detach(), correction.detach(), c.y, 20},
                                         {{c.mean.detach(), c.log_diagonal, c.lower},
                                          c.offset.detach(),
                                          noise.detach(),
                                          at::scalar_tensor(dof, at::kDouble)},
                                         {Data::predictive, 0, 0}, focus);
    const auto same = [](const at::Tensor& a, const at::Tensor& b) {
      return at::allclose(a, b, 1e-9, 1e-12);
    };
    EXPECT_NEAR(g.loss.data.item<double>(), whole.item<double>(), 1e-10);
    EXPECT_TRUE(same(g.grad_features, c.phi.grad()));
    EXPECT_TRUE(same(g.grad_correction, correction.grad()));
    EXPECT_TRUE(same(g.grad_mean, c.mean.grad()));
    EXPECT_TRUE(same(g.grad_offset, c.offset.grad()));
    EXPECT_TRUE(same(g.grad_noise_var, noise.grad()));
    const double step = 1e-4 * dof, high = loss(dof + step).item<double>(),
                 low = loss(dof - step).item<double>();
    const double grad_dof = g.grad_dof.item<double>();
    EXPECT_NEAR(grad_dof, (high - low) / (2 * step), 1e-3 * std::abs(grad_dof));
  }
}

TEST(HeadGradient, OfAStudentPredictiveTendsToTheGaussians) {
  Case c(9, 5);
  const auto at_dof = [&](const at::Tensor& dof) {
    return head_gradient({c.phi, {}, c.y, 20}, {c.posterior(), c.offset, at::exp(c.log_noise), dof},
                         {Data::predictive, 0.3, 0.7});
  };
  const HeadGradient heavy = at_dof(at::scalar_tensor(1e6, at::kDouble)), gaussian = at_dof({});
  EXPECT_TRUE(at::allclose(heavy.grad_features, gaussian.grad_features, 1e-4, 1e-5));
  EXPECT_NEAR(heavy.loss.total.item<double>(), gaussian.loss.total.item<double>(), 1e-4);
  EXPECT_FALSE(gaussian.grad_dof.defined());
}

TEST(HeadGradient, WithoutReadingANumberIsTheSame) {
  const at::Tensor heavy = at::scalar_tensor(4.5, at::kDouble);
  struct Choice {
    HeadObjective objective;
    at::Tensor dof;
    double focus;
  };
  const std::vector<Choice> choices = {{{Data::predictive, 0.3, 0.7}, {}, 0.5},
                                       {{Data::predictive, 0, 1}, {}, 0},
                                       {{Data::expected, 0.4, 1}, {}, 0},
                                       {{Data::predictive, 0.2, 1}, heavy, 0.5}};
  for (const auto& [objective, dof, focus] : choices) {
    Case c(9, 5);
    const HeadBatch batch{c.phi, Stream(7).uniform(at::IntArrayRef{9}), c.y, 20};
    const HeadValues head{c.posterior(), c.offset, at::exp(c.log_noise), dof};
    const HeadGradient read = head_gradient(batch, head, objective, focus),
                       pending = pending_head_gradient(batch, head, objective, focus);
    const auto same = [](const at::Tensor& a, const at::Tensor& b) {
      return at::allclose(a, b, 1e-12, 1e-14);
    };
    EXPECT_TRUE(same(pending.loss.data, read.loss.data));
    EXPECT_TRUE(same(pending.loss.kl, read.loss.kl));
    EXPECT_TRUE(same(pending.loss.total, read.loss.total));
    for (at::Tensor HeadGradient::*field :
         {&HeadGradient::grad_features, &HeadGradient::grad_correction, &HeadGradient::grad_mean,
          &HeadGradient::grad_log_diagonal, &HeadGradient::grad_lower, &HeadGradient::grad_offset,
          &HeadGradient::grad_noise_var})
      EXPECT_TRUE(same(pending.*field, read.*field));
    ASSERT_EQ(pending.grad_dof.defined(), dof.defined());
    if (dof.defined()) {
      EXPECT_TRUE(same(pending.grad_dof, read.grad_dof));
    }
  }
}

TEST(HeadGradient, RefusesAStudentExpectationAndTooFewDegreesOfFreedom) {
  Case c;
  const auto with = [&](double dof, Data data) {
    return head_gradient({c.phi, {}, c.y, 20},
                         {c.posterior(), c.offset, at::exp(c.log_noise), at::scalar_tensor(dof, at::kDouble)},
                         {data});
  };
  EXPECT_THROW(with(4, Data::expected), std::invalid_argument);
  EXPECT_THROW(with(2, Data::predictive), std::invalid_argument);
}

TEST(Dppgp, ZeroWeightsLeaveTheDataTerm) {
  VariationalLoss loss = Case().loss(0, 0);
  EXPECT_EQ(loss.total.item<double>(), loss.data.item<double>());
}

}  // namespace
}  // namespace slimbayes
