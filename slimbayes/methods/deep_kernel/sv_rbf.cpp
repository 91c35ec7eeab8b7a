#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/rows.h"
#include "slimbayes/methods/deep_kernel/sv_rbf_options.h"

// sv-rbf: a sparse variational Gaussian process (Hensman et al. 2013; paper N of docs/references.md, appendix
// B; N-4 and N-5 are its equations 4 and 5).
//
// Model       f ~ GP(c, k~(x, x')) with an ARD RBF kernel k~ on the inputs, approximated by r free inducing
//             points with the features phi.
// Estimator   The evidence lower bound SVGP (N-5), with the variance correction k~(x, x) - ||phi||^2 (N-4).
// Cost        O(b (r d + r^2) + r^3) per step of b rows with d inputs.
// Deviations  The training recipe of vbll.

namespace slimbayes {

namespace {

DeepKernel sv_rbf(const nlohmann::json& options) {
  auto o = options_from_json<SvRbfOptions>(options, "sv-rbf");
  DeepKernel kernel;
  kernel.method = "sv-rbf";
  kernel.options = options_to_json(o);
  kernel.network = [](const Shape& input, int64_t) { return NetworkSpec{input}; };
  kernel.basis = "rbf";
  kernel.rank = o.rank;
  kernel.objective = {DataTerm::expected, 0, o.beta};
  kernel.correction = DeepKernel::Correction::kernel;
  kernel.training = o.training;
  kernel.noise = o.noise;
  return kernel;
}

}  // namespace

RegistryRow sv_rbf_row() { return deep_kernel_row("sv-rbf", sv_rbf); }

}  // namespace slimbayes
