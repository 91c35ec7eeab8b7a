#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "slimbayes/basis/basis.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"

// rbf: an RBF kernel k~ with one lengthscale l_j per input (ARD) and amplitude a, approximated by r inducing
// points Z [r, h] (N-12, N-16; docs/references.md lists the paper N). Its inputs g, g' are outputs of the
// network, vectors of h numbers.
//
//   k~(g, g') = a exp(-1/2 sum_j (g_j - g'_j)^2 / l_j^2),   phi(g) = L^-1 k~_Z(g),   L L^T = K_ZZ,
//   correction(g) = a - ||phi(g)||^2
//
// The triangular L^-1 is used in place of K_ZZ^-1/2: the two differ by a rotation, which changes no
// posterior. All computations are in float64, whatever the network's type: with distances in float32, K_ZZ
// had eigenvalues of -2e-6. engine/inducing_points computes the same for training on the CPU.
//
// The gradient of the loss is in closed form. Phi [b, r] has one row phi^T for each row of the batch. With
// G = dloss/dPhi - 2 (dloss/dcorrection) Phi, row by row, M = G^T Phi and A o B for the product of elements:
//   dloss/dK_xZ = G L^-1,   dloss/dK_ZZ = -1/2 L^-T (tril M + (strict tril M)^T) L^-1
// Write u = g / l and v = Z / l for the scaled inputs and points, W = dloss/dK_xZ o K_xZ, and 1 for the
// vector of ones. Then dloss/du = W v - (W 1) u. The gradient for v has the same form, with a part from K_xZ
// and one from K_ZZ.
//
// K_ZZ gets a nugget of 1e-11 a on its diagonal, so that ||phi||^2 stays below k~(x, x). Without it, a matrix
// that is numerically singular (many points in few inputs) may still factorise, and k~ - ||phi||^2 reaches
// -1e-9.
//
// Initial values (N appendix B): Z ~ U[-1, 1]^h, every l = sqrt(h), a = 1.

namespace slimbayes {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kNugget = 1e-11;  // as a share of the amplitude a

/// Returns a exp(-1/2 ||u_i - v_j||^2). [b, h], [r, h] -> [b, r]
at::Tensor gaussian(const at::Tensor& u, const at::Tensor& v, const at::Tensor& amplitude) {
  return squared_distances(u, v).mul_(-0.5).exp_().mul_(amplitude);
}

/// The intermediate results of RbfExpansion::forward, float64.
struct Parts {
  at::Tensor u;       // g / l [b, h]
  at::Tensor v;       // Z / l [r, h]
  at::Tensor a;       // scalar
  at::Tensor cross;   // K_xZ [b, r]
  at::Tensor within;  // K_ZZ [r, r]
  Cholesky cholesky;  // of K_ZZ
  at::Tensor phi;     // [b, r]
};

Parts parts_of(const at::Tensor& g, const at::Tensor& z, const at::Tensor& log_lengthscale,
               const at::Tensor& log_amplitude) {
  Parts p;
  at::Tensor lengthscale = log_lengthscale.to(at::kDouble).exp();
  p.u = g.to(at::kDouble) / lengthscale;
  p.v = z.to(at::kDouble) / lengthscale;
  p.a = log_amplitude.to(at::kDouble).exp();
  p.cross = gaussian(p.u, p.v, p.a);
  p.within = gaussian(p.v, p.v, p.a);
  p.within.diagonal().add_(p.a, kNugget);
  p.cholesky = safe_cholesky(p.within);
  p.phi = at::linalg_solve_triangular(p.cholesky.factor, p.cross.t(), false).t();
  return p;
}

struct RbfExpansion : torch::autograd::Function<RbfExpansion> {
  static variable_list forward(AutogradContext* context, const at::Tensor& g, const at::Tensor& z,
                               const at::Tensor& log_lengthscale, const at::Tensor& log_amplitude) {
    at::NoGradGuard no_grad;
    Parts p = parts_of(g, z, log_lengthscale, log_amplitude);
    at::Tensor correction = p.a - p.phi.square().sum(-1);  // [b]
    context->save_for_backward(
        {p.u, p.v, p.a, p.cross, p.within, p.cholesky.factor, p.phi, g, z, log_lengthscale});
    return {p.phi.to(g.scalar_type()), correction.to(g.scalar_type())};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    at::NoGradGuard no_grad;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &u = saved[0], &v = saved[1], &a = saved[2], &cross = saved[3], &within = saved[4],
                     &factor = saved[5], &phi = saved[6], &g = saved[7], &z = saved[8], &log_l = saved[9];
    at::Tensor grad_phi = grads[0].defined() ? grads[0].to(at::kDouble) : at::zeros_like(phi);
    at::Tensor grad_a = at::zeros({}, a.options());
    if (grads[1].defined()) {
      at::Tensor grad_correction = grads[1].to(at::kDouble);  // [b]
      grad_phi = grad_phi - 2 * grad_correction.unsqueeze(-1) * phi;
      grad_a = grad_correction.sum();
    }
    at::Tensor grad_cross = at::linalg_solve_triangular(factor, grad_phi, false, /*left=*/false);  // G L^-1
    at::Tensor m = at::mm(grad_phi.t(), phi).tril();
    m = m + m.tril(-1).t();
    at::Tensor left = at::linalg_solve_triangular(factor.t(), m, true);  // L^-T M
    at::Tensor grad_within = -0.5 * at::linalg_solve_triangular(factor, left, false, /*left=*/false);

    at::Tensor w = grad_cross.mul_(cross);    // [b, r]
    at::Tensor s = grad_within.mul_(within);  // [r, r], symmetric
    at::Tensor grad_u = at::mm(w, v) - w.sum(-1, true) * u;
    at::Tensor grad_v =
        at::mm(w.t(), u) - w.sum(0).unsqueeze(-1) * v + 2 * (at::mm(s, v) - s.sum(-1, true) * v);
    at::Tensor lengthscale = log_l.to(at::kDouble).exp();
    at::Tensor grad_log_l = -((grad_u * u).sum(0) + (grad_v * v).sum(0));
    at::Tensor grad_log_a = w.sum() + s.sum() + grad_a * a;
    return {(grad_u / lengthscale).to(g.scalar_type()), (grad_v / lengthscale).to(z.scalar_type()),
            grad_log_l.to(log_l.scalar_type()), grad_log_a.to(z.scalar_type())};
  }
};

class RbfBasis : public Basis {
 public:
  RbfBasis(const std::string& prefix, const Network::Lookup& lookup)
      : points_(lookup(prefix + ".inducing_points")),
        log_lengthscale_(lookup(prefix + ".log_lengthscale")),
        log_amplitude_(lookup(prefix + ".log_amplitude")) {
    check_shape(points_, {-1, -1}, "rbf", prefix + ".inducing_points");
    check_shape(log_lengthscale_, {inputs()}, "rbf", prefix + ".log_lengthscale");
    check_shape(log_amplitude_, {}, "rbf", prefix + ".log_amplitude");
  }

  Expansion operator()(const at::Tensor& g) const override {
    check_shape(g, {-1, inputs()}, "rbf", "its inputs");
    variable_list out = RbfExpansion::apply(g, points_, log_lengthscale_, log_amplitude_);
    return {out[0], out[1]};
  }
  int64_t inputs() const override { return points_.size(1); }
  int64_t rank() const override { return points_.size(0); }
  double jitter() const override {
    at::NoGradGuard no_grad;
    Cholesky within = parts_of(points_, points_, log_lengthscale_, log_amplitude_).cholesky;
    return within.jitter * std::exp(-log_amplitude_.item<double>());
  }
  std::optional<double> kernel_var() const override { return std::exp(log_amplitude_.item<double>()); }

 private:
  at::Tensor points_;           // Z [r, h]
  at::Tensor log_lengthscale_;  // log l [h]
  at::Tensor log_amplitude_;    // log a = log sigma_k^2, scalar
};

}  // namespace

std::vector<ParameterSpec> rbf_parameters(const BasisStart& start) {
  at::Tensor points = start.stream.split("points").uniform({start.rank, start.hidden});
  double log_lengthscale = 0.5 * std::log(static_cast<double>(start.hidden));
  return {
      {start.prefix + ".inducing_points", start.group, 2 * points - 1},
      {start.prefix + ".log_lengthscale", start.group,
       at::full({start.hidden}, log_lengthscale, at::kDouble)},
      {start.prefix + ".log_amplitude", start.group, at::zeros({}, at::kDouble)},
  };
}

std::shared_ptr<const Basis> bind_rbf(const std::string& prefix, const Network::Lookup& lookup) {
  return std::make_shared<RbfBasis>(prefix, lookup);
}

}  // namespace slimbayes
