#include "slimbayes/basis/basis.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/linalg.h"

namespace slimbayes {
namespace {

constexpr int64_t kHidden = 3, kRank = 5;

/// An expansion with its parameters in float64. Random noise moves the parameters off their start values.
struct Bound {
  Parameters parameters;
  std::shared_ptr<const Basis> basis;

  explicit Bound(const std::string& name)
      : parameters(basis_parameters(name, {kHidden, kRank, "basis", "head", Stream(4)}), at::kDouble),
        basis(bind_basis(name, "basis", [this](const std::string& key) { return parameters[key]; })) {
    at::NoGradGuard no_grad;
    at::Tensor flat = parameters.values("head");
    flat.add_(0.2 * Stream(6).normal(flat.sizes()));
  }
  at::Tensor operator[](const std::string& name) const { return parameters["basis." + name].detach(); }
};

at::Tensor inputs() { return Stream(5).normal({7, kHidden}); }

TEST(Basis, SiluEqualsItsFormula) {
  Bound b("silu");
  at::Tensor a = at::matmul(inputs(), b["weight"].t()) + b["bias"];
  EXPECT_TRUE(at::allclose((*b.basis)(inputs()).features, b["scale"] * a / (1 + at::exp(-a)), 1e-12, 1e-14));
}

TEST(Basis, LinearEqualsItsFormula) {
  Bound b("linear");
  at::Tensor a = at::matmul(inputs(), b["weight"].t()) + b["bias"];
  EXPECT_TRUE(at::allclose((*b.basis)(inputs()).features, a / std::sqrt(5.0), 1e-12, 1e-14));
}

TEST(Basis, SiluStartsWithRandomSignsOfTheRootOfTheRank) {
  at::Tensor scale = basis_parameters("silu", {3, 400, "basis", "head", Stream(4)})[2].start;
  EXPECT_TRUE(at::allclose(scale.abs(), at::full({400}, 1 / std::sqrt(400.0), at::kDouble)));
  EXPECT_LT(std::abs(scale.sum().item<double>()), 4);  // four sds: the sum of 400 random signs / 20 has sd 1
}

TEST(Basis, RbfIsTheNystroemKernelOfItsInducingPoints) {
  Bound b("rbf");
  at::Tensor l = b["log_lengthscale"].exp(), a = b["log_amplitude"].exp(), z = b["inducing_points"];
  auto kernel = [&](const at::Tensor& x, const at::Tensor& y) {
    return a * at::exp(-0.5 * ((x.unsqueeze(1) - y.unsqueeze(0)) / l).square().sum(-1));
  };
  at::Tensor g = inputs(), cross = kernel(g, z);
  Expansion phi = (*b.basis)(g);
  at::Tensor nystroem = at::mm(cross, at::linalg_solve(kernel(z, z), cross.t()));
  EXPECT_TRUE(at::allclose(at::mm(phi.features, phi.features.t()), nystroem, 1e-9, 1e-12));
  EXPECT_TRUE(at::allclose(phi.correction, a - nystroem.diagonal(), 1e-9, 1e-12));
  EXPECT_GE(phi.correction.min().item<double>(), 0);
  EXPECT_EQ(b.basis->jitter(), 0);
}

TEST(Basis, RbfReproducesItsKernelAtTheInducingPoints) {
  Bound b("rbf");
  Expansion phi = (*b.basis)(b["inducing_points"]);
  // The remaining correction comes from the nugget of 1e-11 on the diagonal of K_ZZ.
  EXPECT_LT(phi.correction.abs().max().item<double>(), 3e-11);
}

TEST(Basis, RbfStaysFiniteWhenInducingPointsCoincide) {
  Bound b("rbf");
  {
    at::NoGradGuard no_grad;
    at::Tensor points = b["inducing_points"];
    points.copy_(points.select(0, 0).clone().expand_as(points));
  }
  Expansion phi = (*b.basis)(inputs());
  EXPECT_TRUE(phi.features.isfinite().all().item<bool>());
  EXPECT_GE(phi.correction.min().item<double>(), 0);
  EXPECT_EQ(b.basis->jitter(), 0);  // the nugget alone makes K_ZZ factorise
}

TEST(Basis, FourierApproachesItsKernelWithTheRank) {
  constexpr int64_t kMany = 200000;
  Parameters p(basis_parameters("fourier", {kHidden, kMany, "basis", "head", Stream(4)}), at::kDouble);
  auto basis = bind_basis("fourier", "basis", [&](const std::string& name) { return p[name]; });
  at::NoGradGuard no_grad;
  at::Tensor g = inputs(), phi = (*basis)(g).features;
  at::Tensor kernel = at::exp(-0.5 * at::cdist(g, g).square() / kHidden);
  // Each entry is a mean of r terms with variance below 2; the tolerance is five of its sds.
  EXPECT_LT((at::mm(phi, phi.t()) - kernel).abs().max().item<double>(), 5 * std::sqrt(2.0 / kMany));
}

/// Returns a scalar that depends on every output of the expansion.
at::Tensor reading(const Expansion& phi) {
  at::Tensor out = (phi.features * Stream(8).normal(phi.features.sizes())).sin().sum();
  if (phi.correction.defined()) out = out + (phi.correction.square() + phi.correction).sum();
  return out;
}

TEST(Basis, GradientsEqualCentralDifferences) {
  for (const char* name : {"silu", "rbf", "linear", "fourier"}) {
    Bound b(name);
    at::Tensor g = inputs().set_requires_grad(true);
    reading((*b.basis)(g)).backward();
    auto agree = [&](const at::Tensor& value, const at::Tensor& grad) {
      at::NoGradGuard no_grad;
      for (int64_t i = 0; i < value.numel(); ++i) {
        constexpr double kStep = 1e-6;
        at::Tensor at_i = value.view({-1})[i];
        double before = at_i.item<double>();
        at_i.fill_(before + kStep);
        double high = reading((*b.basis)(g)).item<double>();
        at_i.fill_(before - kStep);
        double low = reading((*b.basis)(g)).item<double>();
        at_i.fill_(before);
        EXPECT_NEAR(grad.view({-1})[i].item<double>(), (high - low) / (2 * kStep), 2e-7) << name << " " << i;
      }
    };
    agree(g.detach(), g.grad().contiguous());
    agree(b.parameters.values("head"), b.parameters.grads("head"));
  }
}

TEST(Basis, Float32AnswersStayNearFloat64) {
  for (const char* name : {"silu", "rbf", "linear", "fourier"}) {
    Bound b(name);
    Parameters single(basis_parameters(name, {kHidden, kRank, "basis", "head", Stream(4)}), at::kFloat);
    auto basis = bind_basis(name, "basis", [&](const std::string& key) { return single[key]; });
    at::NoGradGuard no_grad;
    single.values("head").copy_(b.parameters.values("head"));
    Expansion wide = (*b.basis)(inputs()), narrow = (*basis)(inputs().to(at::kFloat));
    EXPECT_EQ(narrow.features.scalar_type(), at::kFloat);
    EXPECT_TRUE(at::allclose(narrow.features.to(at::kDouble), wide.features, 1e-4, 1e-5)) << name;
  }
}

TEST(Basis, RefusesWhatDoesNotFit) {
  EXPECT_THROW(basis_parameters("spline", {3, 5, "basis", "head", Stream(4)}), std::invalid_argument);
  EXPECT_THROW(basis_parameters("silu", {3, 0, "basis", "head", Stream(4)}), std::invalid_argument);
  Bound b("rbf");
  EXPECT_THROW((*b.basis)(at::zeros({2, kHidden + 1}, at::kDouble)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
