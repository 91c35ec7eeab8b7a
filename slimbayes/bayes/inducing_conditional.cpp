#include "slimbayes/bayes/inducing_conditional.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Z Z^T in float64. Its gradient is one product, that of at::matmul would be two. A long Z has it in its own
/// type; a short one in float64, because the gradient of K may be large outside the range of Z.
struct Gram : torch::autograd::Function<Gram> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& z) {
    const at::NoGradGuard no_grad;
    context->save_for_backward({z});
    const at::Tensor wide = z.to(at::kDouble);
    return at::matmul(wide, wide.t());
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::NoGradGuard no_grad;
    const at::Tensor z = context->get_saved_variables()[0];
    const at::ScalarType type = z.size(1) <= 2 * z.size(0) ? at::kDouble : z.scalar_type();
    return {at::matmul((grads[0] + grads[0].t()).to(type), z.to(type)).to(z.scalar_type())};
  }
};

/// mean + scale e for a scalar tensor `scale`. Its gradient makes no tensor of the size of e.
struct ScaledNoise : torch::autograd::Function<ScaledNoise> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& mean, const at::Tensor& e,
                            const at::Tensor& scale) {
    const at::NoGradGuard no_grad;
    context->save_for_backward({e});
    return mean.is_cpu() ? at::add(mean, e, scale.item()) : at::addcmul(mean, e, scale);
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const at::NoGradGuard no_grad;
    const at::Tensor e = context->get_saved_variables()[0];
    return {grads[0], at::Tensor(), at::dot(grads[0].reshape({-1}), e.reshape({-1}))};
  }
};

/// Returns G [m, k] with G G^T = Z Z^T for the Gram matrix Z Z^T. Z itself serves, without a factorisation,
/// unless its columns are so many that drawing a random number for each costs more. It also serves where rows
/// of Z are dependent up to rounding, because the derivative of a factorisation is then noise.
at::Tensor root_of(const at::Tensor& gram, const at::Tensor& z) {
  constexpr int64_t kManyColumns = 8;   // for each row
  constexpr double kLeastPivot = 1e-4;  // of the largest
  if (z.size(1) <= kManyColumns * z.size(0)) return z;
  const auto [factor, info] = at::linalg_cholesky_ex(gram);
  if (info.item<int64_t>() != 0) return z;
  const at::Tensor pivots = factor.detach().diagonal();
  const bool sound = pivots.min().item<double>() > kLeastPivot * pivots.max().item<double>();
  return sound ? factor.to(z.scalar_type()) : z;
}

/// Returns a b c for matrices with leading axes, in the order that costs fewer multiplications.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
  const int64_t m = a.size(-2), k = b.size(-2), l = b.size(-1), n = c.size(-1);
  if (m * k * l + m * l * n <= k * l * n + m * k * n) return at::matmul(at::matmul(a, b), c);
  return at::matmul(a, at::matmul(b, c));
}

}  // namespace

InducingSide inducing_side(const at::Tensor& z, const at::Tensor& sd) {
  if (z.dim() != 2 || sd.dim() != 1 || z.size(0) != sd.size(0))
    refuse("inducing_side", "Z [m, n] and sd [m]", fmt::format("{} and {} axes", z.dim(), sd.dim()));
  const at::Tensor square = sd.to(at::kDouble).square(), gram = Gram::apply(z);
  const Cholesky k = safe_cholesky(gram + square.diag());
  const at::Tensor own =
      k.jitter > 0 ? (square + k.jitter).sqrt().to(z.scalar_type()) : sd.to(z.scalar_type());
  return {z, own, k.factor, root_of(gram, z), k.jitter};
}

at::Tensor unwhitened(const InducingSide& rows, const InducingSide& columns, const at::Tensor& v) {
  return product(rows.chol, v.to(at::kDouble), columns.chol.t()).to(v.scalar_type());
}

at::Tensor conditional_mean(const InducingSide& rows, const InducingSide& columns, const at::Tensor& u) {
  const at::Tensor left = solve_cholesky(rows.chol, u.to(at::kDouble));
  const at::Tensor half = at::linalg_solve_triangular(columns.chol.t(), left, /*upper=*/true, /*left=*/false);
  const at::Tensor both = at::linalg_solve_triangular(columns.chol, half, /*upper=*/false, /*left=*/false);
  // K^-1 U K^-1 is as large as 1 / D^2 outside the range of a Z that has few columns, and Z cancels this
  // part.
  const auto cancels = [](const at::Tensor& z) { return z.size(1) <= 2 * z.size(0); };
  const at::ScalarType type = u.scalar_type();
  const bool at_rows = cancels(rows.z), at_columns = cancels(columns.z);
  at::Tensor x = both;
  if (at_rows) x = at::matmul(rows.z.t().to(at::kDouble), x);
  if (at_columns) x = at::matmul(x, columns.z.to(at::kDouble));
  x = x.to(type);
  if (at_rows) return at_columns ? x : at::matmul(x, columns.z);
  return at_columns ? at::matmul(rows.z.t(), x) : product(rows.z.t(), x, columns.z);
}

MatheronNoise matheron_noise(const InducingSide& rows, const InducingSide& columns, const Stream& stream) {
  const int64_t m_r = rows.z.size(0), m_c = columns.z.size(0);
  const auto drawn = [&](const char* name, int64_t first, int64_t second) {
    return stream.split(name).normal_float32({first, second}, rows.z.device());
  };
  return {drawn("w", rows.z.size(1), columns.z.size(1)), drawn("e2", rows.root.size(1), m_c),
          drawn("e3", m_r, columns.root.size(1)), drawn("e4", m_r, m_c)};
}

at::Tensor with_noise(const at::Tensor& mean, const at::Tensor& e, const at::Tensor& scale) {
  return ScaledNoise::apply(mean, e, scale);
}

at::Tensor conditional_draw(const InducingSide& rows, const InducingSide& columns, const at::Tensor& u,
                            const at::Tensor& noise_scale, const MatheronNoise& noise) {
  const at::Tensor d_r = rows.sd.unsqueeze(1), d_c = columns.sd;
  const at::Tensor of_w = product(rows.z, noise.w, columns.z.t());
  const at::Tensor prior_u = of_w + at::matmul(rows.root, noise.e2) * d_c +
                             d_r * (at::matmul(noise.e3, columns.root.t()) + noise.e4 * d_c);
  return with_noise(conditional_mean(rows, columns, u - noise_scale * prior_u), noise.w, noise_scale);
}

at::Tensor conditional_kl(const at::Tensor& noise_scale, int64_t dimensions) {
  return static_cast<double>(dimensions) * (0.5 * noise_scale.square() - noise_scale.log() - 0.5);
}

}  // namespace slimbayes
