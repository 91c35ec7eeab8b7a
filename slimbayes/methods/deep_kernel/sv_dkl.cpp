#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/rows.h"
#include "slimbayes/methods/deep_kernel/sv_dkl_options.h"

// sv-dkl: sparse deep kernel learning (Wilson et al. 2016; paper N of docs/references.md, appendix B; N-4 and
// N-5 are its equations 4 and 5).
//
// Model       f ~ GP(c, k~(g(x), g(x'))) with an ARD RBF kernel k~ on the network's outputs g, approximated
//             by r free inducing points in the space of g. With whitened weights w ~ N(0, I), f = c + <w,
//             phi(x)>.
// Estimator   The evidence lower bound SVGP (N-5), with the variance correction k~(x, x) - ||phi||^2 (N-4).
// Cost        O(b (h^2 + r h + r^2) + r^3) per step of b rows with h hidden units.
// Deviations  The training recipe of vbll; no grid and no kernel interpolation, as in paper N's baseline.

namespace slimbayes {

namespace {

DeepKernel sv_dkl(const nlohmann::json& options) {
  auto o = options_from_json<SvDklOptions>(options, "sv-dkl");
  DeepKernel kernel;
  kernel.method = "sv-dkl";
  kernel.options = options_to_json(o);
  kernel.network = [network = o.network](const Shape& input, int64_t tokens) {
    return network_for(network, input, tokens);
  };
  kernel.basis = "rbf";
  kernel.rank = o.rank;
  kernel.objective = {DataTerm::expected, 0, o.beta};
  kernel.correction = DeepKernel::Correction::kernel;
  kernel.training = o.training;
  kernel.noise = o.noise;
  return kernel;
}

}  // namespace

RegistryRow sv_dkl_row() { return deep_kernel_row("sv-dkl", sv_dkl); }

}  // namespace slimbayes
