#include "slimbayes/bayes/row_flow.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>

namespace slimbayes {
namespace {

/// Returns the parameters of a flow that has trained: all away from their start.
std::vector<at::Tensor> moved(const RowFlow& flow, double by, uint64_t seed = 3) {
  std::vector<at::Tensor> all = flow.start(Stream(seed));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = all[i] + by * Stream(seed).split("move").split(i).normal(all[i].sizes());
  return all;
}

constexpr FlowForm kForms[] = {FlowForm::certified, FlowForm::paper, FlowForm::spectral};

RowFlowSpec spec_of(int64_t features, int64_t layers, FlowForm form) {
  return {.features = features, .hidden = 16, .layers = layers, .form = form};
}

/// Returns the Jacobian of g at one row u [M]. [M, M]
at::Tensor jacobian(const RowFlow& flow, const std::vector<at::Tensor>& parameters, const at::Tensor& u) {
  const at::Tensor at = u.clone().requires_grad_();
  const at::Tensor v = flow(at, parameters).values;
  std::vector<at::Tensor> rows;
  for (int64_t j = 0; j < u.size(0); ++j)
    rows.push_back(torch::autograd::grad({v[j]}, {at}, {}, /*retain_graph=*/true)[0]);
  return at::stack(rows);
}

TEST(RowFlow, IsTheIdentityAtTheStart) {
  for (FlowForm form : {FlowForm::certified, FlowForm::paper}) {
    const RowFlow flow(spec_of(7, 2, form));
    const at::Tensor u = 100 * Stream(1).normal({5, 7});
    const RowFlow::Image image = flow(u, flow.start(Stream(2)));
    EXPECT_TRUE(at::allclose(image.values, u, 1e-12, 0));
    EXPECT_LT(image.log_det.abs().max().item<double>(), 1e-12);
  }
}

TEST(RowFlow, HasTheLogDeterminantOfItsJacobian) {
  for (FlowForm form : kForms) {
    for (int64_t layers : {1, 3}) {
      const RowFlow flow(spec_of(6, layers, form));
      const auto parameters = moved(flow, 0.5);
      const at::Tensor u = 2 * Stream(4).normal({3, 6});
      const RowFlow::Image image = flow(u, parameters);
      for (int64_t row = 0; row < u.size(0); ++row) {
        const at::Tensor own = jacobian(flow, parameters, u[row]);
        EXPECT_TRUE(at::equal(own.triu(1), at::zeros_like(own)));  // element j sees the elements up to j
        EXPECT_NEAR(image.log_det[row].item<double>(), std::log(std::abs(at::linalg_det(own).item<double>())),
                    1e-10);
      }
    }
  }
}

TEST(RowFlow, EveryElementMaySeeAllBeforeIt) {
  for (const int64_t features : {6, 40}) {  // fewer and more than the hidden units
    const RowFlow flow(spec_of(features, 2, FlowForm::certified));
    const at::Tensor own = jacobian(flow, moved(flow, 0.5), Stream(5).normal({features}));
    // Element j sees those that the unit of the highest degree below j sees; the last one all before it.
    EXPECT_GT(own[features - 1].abs().min().item<double>(), 0);
    if (features < 16) {
      EXPECT_GT((own.abs() + at::ones_like(own).triu(1)).min().item<double>(), 0);
    }
  }
}

TEST(RowFlow, MovesNoTwoRowsApartIfCertified) {
  for (int64_t layers : {1, 2}) {
    const RowFlow flow(spec_of(8, layers, FlowForm::certified));
    for (double by : {0.1, 1.0, 10.0}) {
      const auto parameters = moved(flow, by);
      for (double norm : {1e-3, 1.0, 1e4}) {
        const at::Tensor u = norm * Stream(6).normal({200, 8}), w = norm * Stream(7).normal({200, 8});
        const at::Tensor before = (u - w).norm(2, 1),
                         after = (flow(u, parameters).values - flow(w, parameters).values).norm(2, 1);
        EXPECT_LE((after / before).max().item<double>(), 1 + 1e-9);
      }
    }
  }
}

TEST(RowFlow, IsCertifiedInFloat32UpToRounding) {
  const RowFlow flow(spec_of(8, 2, FlowForm::certified));
  std::vector<at::Tensor> parameters = moved(flow, 1);
  for (at::Tensor& one : parameters) one = one.to(at::kFloat);
  const at::Tensor u = Stream(6).normal({200, 8}, at::kFloat), w = Stream(7).normal({200, 8}, at::kFloat);
  const at::Tensor before = (u - w).norm(2, 1),
                   after = (flow(u, parameters).values - flow(w, parameters).values).norm(2, 1);
  EXPECT_LE((after / before).max().item<double>(), 1 + 1e-4);
}

TEST(RowFlow, ThePapersFormIsNotLipschitz) {
  // Its scale depends on the row: where a late element is large, a small change of an early one moves it far.
  const RowFlow flow(spec_of(8, 1, FlowForm::paper));
  const auto parameters = moved(flow, 1);
  at::Tensor u = Stream(6).normal({200, 8}), w = u + 1e-3 * Stream(7).normal({200, 8});
  u.select(1, 7) += 1e4;
  w.select(1, 7) += 1e4;
  const at::Tensor before = (u - w).norm(2, 1),
                   after = (flow(u, parameters).values - flow(w, parameters).values).norm(2, 1);
  EXPECT_GT((after / before).max().item<double>(), 10);
}

// Equation 8 of FiD-GP: the size of a matrix has no effect, as it is divided by its spectral norm.
TEST(RowFlow, TheSpectralFormDoesNotSeeTheSizeOfItsMatrices) {
  const at::Tensor u = Stream(6).normal({20, 8});
  for (FlowForm form : {FlowForm::paper, FlowForm::spectral}) {
    const RowFlow flow(spec_of(8, 2, form));
    std::vector<at::Tensor> parameters = moved(flow, 0.01);
    const at::Tensor before = flow(u, parameters).values;
    EXPECT_GT((before - u).abs().max().item<double>(), 1e-3);
    for (at::Tensor& one : parameters)
      if (one.dim() == 2) one = 0.05 * one;  // below a norm of 1, where `paper` does not divide
    const bool same = at::allclose(flow(u, parameters).values, before, 1e-10, 1e-10);
    EXPECT_EQ(same, form == FlowForm::spectral);
  }
}

TEST(RowFlow, TheSpectralFormOfARowOfOneElementIsFinite) {
  const RowFlow flow(spec_of(1, 1, FlowForm::spectral));
  const RowFlow::Image image = flow(Stream(6).normal({4, 1}), moved(flow, 0.3));
  EXPECT_TRUE(image.values.isfinite().all().item<bool>() && image.log_det.isfinite().all().item<bool>());
}

TEST(RowFlow, GoesBack) {
  for (FlowForm form : kForms) {
    const RowFlow flow(spec_of(9, 2, form));
    const auto parameters = moved(flow, 0.4);
    const at::Tensor u = Stream(8).normal({4, 9});
    EXPECT_TRUE(at::allclose(flow.inverse(flow(u, parameters).values, parameters), u, 1e-9, 1e-10));
  }
}

TEST(RowFlow, ItsDensityIntegratesToOneAndItsKlIsThatOfTheGrid) {
  // q(v) = N(u; 0, I) / |det J| at v = g(u). Sum q and q log(q / p) over a grid in 2-D, p = N(0, I),
  // and compare with the mean over draws of u: log q0(u) - log |det J| - log p(g(u)).
  const double log_2pi = std::log(2 * std::numbers::pi);
  const auto log_normal = [&](const at::Tensor& x) { return -0.5 * x.square().sum(-1) - log_2pi; };
  for (FlowForm form : kForms) {
    const RowFlow flow(spec_of(2, 1, form));
    const auto parameters = moved(flow, 0.6);
    const at::Tensor line = at::linspace(-9, 9, 901, at::kDouble);
    const at::Tensor v = at::stack(at::meshgrid({line, line}, "ij"), -1).reshape({-1, 2});
    const at::Tensor u = flow.inverse(v, parameters);
    const at::Tensor log_q = log_normal(u) - flow(u, parameters).log_det, q = log_q.exp();
    const double cell = std::pow(18.0 / 900, 2);
    EXPECT_NEAR(q.sum().item<double>() * cell, 1, 1e-6);
    const double kl = (q * (log_q - log_normal(v))).sum().item<double>() * cell;
    const at::Tensor draws = Stream(9).normal({200000, 2});
    const RowFlow::Image image = flow(draws, parameters);
    const at::Tensor terms = log_normal(draws) - image.log_det - log_normal(image.values);
    EXPECT_NEAR(terms.mean().item<double>(), kl, 5 * terms.std().item<double>() / std::sqrt(200000.0));
  }
}

TEST(RowFlow, CountsThePapersConditioner) {
  for (int64_t features : {32, 128}) {
    int64_t count = 0;
    for (const auto& [name, sizes] : RowFlow(spec_of(features, 5, FlowForm::paper)).shapes()) {
      int64_t size = 1;
      for (int64_t extent : sizes) size *= extent;
      count += size;
    }
    EXPECT_EQ(count, 50 * features + 1104);
  }
}

TEST(RowFlow, RefusesAnEmptyForm) {
  EXPECT_THROW(RowFlow({.features = 0}), std::invalid_argument);
  EXPECT_THROW(RowFlow({.features = 3, .hidden = 0}), std::invalid_argument);
  EXPECT_THROW(RowFlow({.features = 3, .hidden = 2, .layers = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
