#include "slimbayes/objectives/svgp.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

VariationalLoss svgp(const at::Tensor& features, const at::Tensor& correction, const at::Tensor& y,
                     const VariationalPosterior& posterior, const at::Tensor& offset,
                     const at::Tensor& noise_var, int64_t rows, double beta) {
  check(correction.defined(), "svgp", "an expansion with a kernel of its own (rbf)", "one without");
  Latent f = posterior.latent(features, offset);
  f.epistemic_var = f.epistemic_var + correction;
  VariationalLoss loss;
  loss.data = -GaussianLikelihood{noise_var}.expected_log_prob(f, y).mean();
  loss.kl = posterior.kl();
  loss.total = loss.data + (beta / static_cast<double>(rows)) * loss.kl;
  return loss;
}

}  // namespace slimbayes
