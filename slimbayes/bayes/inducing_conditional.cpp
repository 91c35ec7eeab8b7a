#include "slimbayes/bayes/inducing_conditional.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

/// Returns G [m, k] with G G^T = Z Z^T for the Gram matrix Z Z^T: its Cholesky factor if it has one in
/// float64, which has fewer columns, else Z itself.
at::Tensor root_of(const at::Tensor& gram, const at::Tensor& z) {
  if (z.size(0) >= z.size(1)) return z;
  const auto [factor, info] = at::linalg_cholesky_ex(gram);
  return info.item<int64_t>() == 0 ? factor : z;
}

/// Returns K^-1 Z in the type of Z for the Cholesky factor of K. `wide` is Z in float64. In float32 the
/// inverse of a well-conditioned K is rounded and applied in float32, which errs by about the condition
/// number times 1e-7; else everything is computed in float64. The diagonal of the factor tells the condition
/// number only roughly, hence the low limit.
at::Tensor solved(const at::Tensor& factor, const at::Tensor& wide, const at::Tensor& z) {
  constexpr double kWellConditioned = 1e3;
  const at::Tensor diagonal = factor.detach().diag();
  const double ratio = (diagonal.max() / diagonal.min()).item<double>();
  if (z.scalar_type() != at::kFloat || ratio * ratio > kWellConditioned) {
    return solve_cholesky(factor, wide).to(z.scalar_type());
  }
  return at::matmul(solve_cholesky(factor, at::eye(factor.size(0), factor.options())).to(at::kFloat), z);
}

}  // namespace

InducingSide inducing_side(const at::Tensor& z, const at::Tensor& sd) {
  check(z.dim() == 2 && sd.dim() == 1 && z.size(0) == sd.size(0), "inducing_side", "Z [m, n] and sd [m]",
        fmt::format("{} and {} axes", z.dim(), sd.dim()));
  const at::Tensor wide = z.to(at::kDouble), d = sd.to(at::kDouble);
  const at::Tensor gram = at::matmul(wide, wide.t());
  const Cholesky k = safe_cholesky(gram + d.square().diag());
  const at::Tensor own = k.jitter > 0 ? (d.square() + k.jitter).sqrt() : d;
  const auto as_given = [&](const at::Tensor& x) { return x.to(z.scalar_type()); };
  return {
      z,       as_given(own), as_given(k.factor), solved(k.factor, wide, z), as_given(root_of(gram, wide)),
      k.jitter};
}

at::Tensor unwhitened(const InducingSide& rows, const InducingSide& columns, const at::Tensor& v) {
  return at::matmul(at::matmul(rows.chol, v), columns.chol.t());
}

at::Tensor conditional_mean(const InducingSide& rows, const InducingSide& columns, const at::Tensor& u) {
  return at::matmul(at::matmul(rows.back.t(), u), columns.back);
}

MatheronNoise matheron_noise(const InducingSide& rows, const InducingSide& columns, const Stream& stream) {
  const int64_t m_r = rows.z.size(0), m_c = columns.z.size(0);
  return {stream.split("w").normal_float32({rows.z.size(1), columns.z.size(1)}),
          stream.split("e2").normal_float32({rows.root.size(1), m_c}),
          stream.split("e3").normal_float32({m_r, columns.root.size(1)}),
          stream.split("e4").normal_float32({m_r, m_c})};
}

at::Tensor conditional_draw(const InducingSide& rows, const InducingSide& columns, const at::Tensor& u,
                            const at::Tensor& noise_scale, const MatheronNoise& noise) {
  const at::Tensor d_r = rows.sd.unsqueeze(1), d_c = columns.sd;
  const at::Tensor of_w = at::matmul(at::matmul(rows.z, noise.w), columns.z.t());
  const at::Tensor prior_u = of_w + at::matmul(rows.root, noise.e2) * d_c +
                             d_r * (at::matmul(noise.e3, columns.root.t()) + noise.e4 * d_c);
  return at::addcmul(conditional_mean(rows, columns, u - noise_scale * prior_u), noise.w, noise_scale);
}

at::Tensor conditional_kl(const at::Tensor& noise_scale, int64_t dimensions) {
  return static_cast<double>(dimensions) * (0.5 * noise_scale.square() - noise_scale.log() - 0.5);
}

}  // namespace slimbayes
