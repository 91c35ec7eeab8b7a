// Inducing weights against the dense Gaussian: the joint distribution of vec(W) and vec(U) as one covariance.
#include "slimbayes/bayes/inducing_conditional.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

namespace slimbayes {
namespace {

struct CaseSizes {
  int64_t m_r, n_r, m_c, n_c;
};

// Fewer, as many and more inducing rows than the matrix has, on each side; and far fewer, with another root.
const CaseSizes kCases[] = {{2, 4, 3, 5}, {5, 3, 2, 4},  {2, 4, 6, 3}, {5, 3, 4, 2},
                            {3, 3, 4, 4}, {2, 20, 3, 5}, {3, 2, 1, 9}};

struct Sides {
  InducingSide rows, columns;
};

Sides sides_of(const CaseSizes& s) {
  const Stream stream(11);
  const auto side = [&](const char* name, int64_t m, int64_t n) {
    const Stream own = stream.split(name);
    return inducing_side(own.split("z").normal({m, n}), 0.2 + own.split("d").uniform({m}));
  };
  return {side("rows", s.m_r, s.n_r), side("columns", s.m_c, s.n_c)};
}

/// The conditional distribution of vec(W) given vec(U), row by row, from the dense joint covariance.
struct Dense {
  at::Tensor gain, covariance;  // E[vec W | U] = gain vec(U); [n, m] and [n, n]
};

Dense dense_of(const Sides& s) {
  const auto covariance = [](const InducingSide& side) {
    return at::matmul(side.z, side.z.t()) + side.sd.square().diag();
  };
  const at::Tensor of_u = at::kron(covariance(s.rows), covariance(s.columns));
  const at::Tensor cross = at::kron(s.rows.z.t(), s.columns.z.t());  // Cov(vec W, vec U)
  const at::Tensor gain = at::linalg_solve(of_u, cross.t()).t();
  return {gain, at::eye(cross.size(0), at::kDouble) - at::matmul(gain, cross.t())};
}

MatheronNoise zero_noise(const Sides& s, int64_t count) {
  const auto zeros = [&](int64_t a, int64_t b) { return at::zeros({count, a, b}, at::kDouble); };
  const int64_t m_r = s.rows.z.size(0), m_c = s.columns.z.size(0);
  return {zeros(s.rows.z.size(1), s.columns.z.size(1)), zeros(s.rows.root.size(1), m_c),
          zeros(m_r, s.columns.root.size(1)), zeros(m_r, m_c)};
}

const at::Tensor kFullNoise = at::ones({}, at::kDouble);

TEST(InducingConditional, HasTheMeanOfTheDenseConditional) {
  for (const CaseSizes& sizes : kCases) {
    const Sides s = sides_of(sizes);
    const at::Tensor u = Stream(1).normal({sizes.m_r, sizes.m_c});
    const at::Tensor expected = at::mv(dense_of(s).gain, u.flatten());
    EXPECT_TRUE(at::allclose(conditional_mean(s.rows, s.columns, u).flatten(), expected, 1e-9, 1e-10));
  }
}

TEST(InducingConditional, HasTheCovarianceOfTheDenseConditional) {
  // A draw is linear in its noise: the covariance is B B^T, with one column of B for every number of noise.
  for (const CaseSizes& sizes : kCases) {
    const Sides s = sides_of(sizes);
    const MatheronNoise shapes = zero_noise(s, 1);
    const int64_t count = shapes.w.numel() + shapes.e2.numel() + shapes.e3.numel() + shapes.e4.numel();
    MatheronNoise noise = zero_noise(s, count);
    int64_t first = 0;
    for (at::Tensor* part : {&noise.w, &noise.e2, &noise.e3, &noise.e4}) {
      const int64_t own = part->numel() / count;
      part->flatten(1).narrow(0, first, own).copy_(at::eye(own, at::kDouble));
      first += own;
    }
    const at::Tensor u = at::zeros({sizes.m_r, sizes.m_c}, at::kDouble);
    const at::Tensor b = conditional_draw(s.rows, s.columns, u, kFullNoise, noise).flatten(1);
    EXPECT_TRUE(at::allclose(at::matmul(b.t(), b), dense_of(s).covariance, 1e-9, 1e-10));
    const at::Tensor half = conditional_draw(s.rows, s.columns, u, 0.5 * kFullNoise, noise).flatten(1);
    EXPECT_TRUE(at::allclose(half, 0.5 * b, 1e-12, 1e-12));
  }
}

TEST(InducingConditional, ItsDrawsHaveTheseMoments) {
  constexpr int64_t kDraws = 100000;
  for (const CaseSizes& sizes : {kCases[0], kCases[3]}) {
    const Sides s = sides_of(sizes);
    const Stream stream(2);
    MatheronNoise noise = zero_noise(s, kDraws);
    uint64_t next = 0;
    for (at::Tensor* part : {&noise.w, &noise.e2, &noise.e3, &noise.e4})
      *part = stream.split(next++).normal(part->sizes());
    const at::Tensor u = Stream(1).normal({sizes.m_r, sizes.m_c});
    const at::Tensor w = conditional_draw(s.rows, s.columns, u, kFullNoise, noise).flatten(1);
    const Dense dense = dense_of(s);
    const at::Tensor off = w - at::mv(dense.gain, u.flatten()), sd = dense.covariance.diag().sqrt();
    const at::Tensor mean = off.mean(0), covariance = at::matmul(off.t(), off) / kDraws;
    const double root = std::sqrt(static_cast<double>(kDraws));
    EXPECT_LT((mean.abs() / sd).max().item<double>(), 5 / root);
    EXPECT_LT(((covariance - dense.covariance).abs() / at::outer(sd, sd)).max().item<double>(),
              5 * std::sqrt(2.0) / root);
  }
}

TEST(InducingConditional, WhiteNumbersHaveThePriorOfU) {
  // Cov(vec U) = (L_r kron L_c)(L_r kron L_c)^T
  const Sides s = sides_of(kCases[0]);
  const at::Tensor basis = at::eye(6, at::kDouble).reshape({6, 2, 3});
  const at::Tensor b = unwhitened(s.rows, s.columns, basis).flatten(1);
  const auto covariance = [](const InducingSide& side) {
    return at::matmul(side.z, side.z.t()) + side.sd.square().diag();
  };
  EXPECT_TRUE(
      at::allclose(at::matmul(b.t(), b), at::kron(covariance(s.rows), covariance(s.columns)), 1e-10, 1e-12));
}

TEST(InducingConditional, ManyInducingRowsWithoutNoiseGiveTheMatrixBack) {
  // With m > n and D -> 0, U determines W: the mean of U = Z_r W Z_c^T is W.
  const Stream stream(4);
  const at::Tensor sd = at::full({6}, 1e-4, at::kDouble);
  const InducingSide rows = inducing_side(stream.split("r").normal({6, 3}), sd),
                     columns = inducing_side(stream.split("c").normal({6, 4}), sd);
  const at::Tensor w = stream.split("w").normal({3, 4});
  const at::Tensor u = at::matmul(at::matmul(rows.z, w), columns.z.t());
  EXPECT_TRUE(at::allclose(conditional_mean(rows, columns, u), w, 1e-6, 1e-6));
  EXPECT_EQ(rows.jitter, 0);
}

TEST(InducingConditional, RepeatedRowsOfZNeedNoJitter) {
  const at::Tensor z = at::ones({2, 20}, at::kDouble);  // Z Z^T is singular, so that the root is Z itself
  const InducingSide side = inducing_side(z, at::full({2}, 0.1, at::kDouble));
  EXPECT_EQ(side.jitter, 0);
  EXPECT_TRUE(at::allclose(at::matmul(side.root, side.root.t()), at::matmul(z, z.t()), 1e-12, 0));
}

TEST(InducingConditional, JitterCountsAsNoiseOfU) {
  const InducingSide side = inducing_side(at::ones({2, 5}, at::kDouble), at::full({2}, 1e-12, at::kDouble));
  EXPECT_GT(side.jitter, 0);
  EXPECT_TRUE(at::allclose(at::matmul(side.chol, side.chol.t()),
                           at::matmul(side.z, side.z.t()) + side.sd.square().diag(), 1e-14, 0));
}

TEST(InducingConditional, TheKlOfScaledNoiseIsThatOfTwoGaussians) {
  // In one dimension KL(N(0, s^2 c) || N(0, c)) = s^2 / 2 - log s - 1/2: 3.007 nats at s = 0.03.
  EXPECT_NEAR(conditional_kl(at::full({}, 0.03, at::kDouble), 1).item<double>(), 3.007, 5e-4);
  EXPECT_NEAR(conditional_kl(at::full({}, 1.0, at::kDouble), 7).item<double>(), 0, 1e-15);
  const double s = 0.4, c = 2.5, step = 1e-3;
  double sum = 0;
  for (double x = -20; x < 20; x += step) {
    const double q = std::exp(-x * x / (2 * s * s * c)) / std::sqrt(2 * std::numbers::pi * s * s * c);
    sum += q * (-x * x / (2 * s * s * c) - std::log(s) + x * x / (2 * c)) * step;
  }
  EXPECT_NEAR(conditional_kl(at::full({}, s, at::kDouble), 1).item<double>(), sum, 1e-6);
}

/// Compares the gradient of a weighted sum of a draw with differences, for these Z_c [2, 20] and D_c [2].
void expect_gradients_of_differences(const at::Tensor& z_c, const at::Tensor& d_c) {
  const Stream stream(7);
  std::vector<at::Tensor> inputs = {
      stream.split("zr").normal({3, 4}), stream.split("dr").uniform({3}) + 0.3, z_c, d_c,
      stream.split("u").normal({3, 2}),  at::full({}, 0.6, at::kDouble)};
  const at::Tensor weight = stream.split("weight").normal({4, 20});
  const auto value = [&](const std::vector<at::Tensor>& x) {
    const InducingSide rows = inducing_side(x[0], x[1]), columns = inducing_side(x[2], x[3]);
    MatheronNoise noise = matheron_noise(rows, columns, Stream(8));
    for (at::Tensor* part : {&noise.w, &noise.e2, &noise.e3, &noise.e4}) *part = part->to(at::kDouble);
    return (weight * conditional_draw(rows, columns, x[4], x[5], noise)).sum();
  };
  for (at::Tensor& one : inputs) one = one.detach().requires_grad_();
  const auto gradients = torch::autograd::grad({value(inputs)}, inputs);
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor toward = stream.split("toward").split(i).normal(inputs[i].sizes());
    constexpr double kStep = 1e-5;
    std::vector<at::Tensor> up = inputs, down = inputs;
    up[i] = inputs[i] + kStep * toward;
    down[i] = inputs[i] - kStep * toward;
    const double slope = (value(up) - value(down)).item<double>() / (2 * kStep);
    EXPECT_NEAR((gradients[i] * toward).sum().item<double>(), slope, 1e-6 * (1 + std::abs(slope))) << i;
  }
}

TEST(InducingConditional, GradientsAreThoseOfDifferences) {
  const at::Tensor z = Stream(7).split("zc").normal({2, 20}), d = Stream(7).split("dc").uniform({2}) + 0.3;
  expect_gradients_of_differences(z, d);
  // Rows that are equal up to 1e-9: Z Z^T still has a Cholesky factor, whose derivative would be noise.
  const at::Tensor near = z[0] + 1e-9 * z[1];
  expect_gradients_of_differences(at::stack({z[0], near}), d);
}

TEST(InducingConditional, StaysInFloat32AndNearFloat64) {
  // More inducing rows than the matrix has make K^-1 U K^-1 a million times as large as W at this D.
  const Stream stream(5);
  for (const CaseSizes& sizes :
       {CaseSizes{8, 20, 8, 30}, CaseSizes{8, 3, 8, 3}, CaseSizes{8, 3, 8, 30}, CaseSizes{8, 20, 8, 5}}) {
    const at::Tensor z_r = stream.split("r").normal({sizes.m_r, sizes.n_r}),
                     z_c = stream.split("c").normal({sizes.m_c, sizes.n_c}),
                     sd = at::full({8}, 1e-3, at::kDouble), v = stream.split("v").normal({8, 8}),
                     weight = stream.split("weight").normal({sizes.n_r, sizes.n_c});
    const auto run = [&](at::ScalarType type) {
      const at::Tensor own = z_r.to(at::kFloat).to(type).set_requires_grad(true);
      const InducingSide rows = inducing_side(own, sd.to(at::kFloat).to(type)),
                         columns = inducing_side(z_c.to(at::kFloat).to(type), sd.to(at::kFloat).to(type));
      const at::Tensor w =
          conditional_mean(rows, columns, unwhitened(rows, columns, v.to(at::kFloat).to(type)));
      const at::Tensor gradient = torch::autograd::grad({(w * weight.to(type)).sum()}, {own})[0];
      MatheronNoise noise = matheron_noise(rows, columns, stream.split("noise"));
      for (at::Tensor* part : {&noise.w, &noise.e2, &noise.e3, &noise.e4}) *part = part->to(type);
      const at::Tensor draw =
          conditional_draw(rows, columns, unwhitened(rows, columns, v.to(at::kFloat).to(type)),
                           at::full({}, 0.5, type), noise);
      EXPECT_EQ(w.scalar_type(), type);
      EXPECT_EQ(draw.scalar_type(), type);
      return std::tuple(w.detach().to(at::kDouble), gradient.to(at::kDouble), draw.detach().to(at::kDouble));
    };
    const auto [narrow, slope, drawn] = run(at::kFloat);
    const auto [wide, exact, expected] = run(at::kDouble);
    EXPECT_LT((drawn - expected).abs().max().item<double>(), 1e-4 * expected.abs().max().item<double>())
        << sizes.n_r;
    EXPECT_LT((narrow - wide).abs().max().item<double>(), 1e-4 * wide.abs().max().item<double>())
        << sizes.n_r;
    EXPECT_LT((slope - exact).abs().max().item<double>(), 1e-2 * exact.abs().max().item<double>())
        << sizes.n_r;
  }
}

}  // namespace
}  // namespace slimbayes
