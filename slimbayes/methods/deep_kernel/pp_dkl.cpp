#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/pp_dkl_options.h"
#include "slimbayes/methods/deep_kernel/rows.h"

// pp-dkl: sparse deep kernel learning on the predictive density (Jankowiak et al. 2020; paper N of
// docs/references.md, appendix B; N-6 is its equation 6).
//
// Model       As sv-dkl: a Gaussian process with kernel k~ on the network's outputs, approximated by r
//             inducing points, whose features are phi.
// Estimator   The objective PPGP (N-6) with q(w) = N(m, L L^T):
//             -log N(y; c + <m, phi>, ||L^T phi||^2 + k~(x, x) - ||phi||^2 + noise) + beta / n KL.
// Cost        As sv-dkl.
// Deviations  dbk's training recipe (focus, learning rate and floor of the noise), so that the two methods
//             differ only in basis and objective.
//
// The objective calibrates only the total variance: its two parts are not the aleatoric and the epistemic
// variance.

namespace slimbayes {

namespace {

DeepKernel pp_dkl(const nlohmann::json& options) {
  auto o = options_from_json<PpDklOptions>(options, "pp-dkl");
  DeepKernel kernel;
  kernel.method = "pp-dkl";
  kernel.options = options_to_json(o);
  kernel.network = [network = o.network](const Shape& input, int64_t tokens) {
    return network_for(network, input, tokens);
  };
  kernel.basis = "rbf";
  kernel.rank = o.rank;
  kernel.objective = {DataTerm::predictive, 0, o.beta};
  kernel.correction = DeepKernel::Correction::kernel;
  kernel.focus = o.focus;
  kernel.training = o.training;
  kernel.noise = o.noise;
  return kernel;
}

}  // namespace

RegistryRow pp_dkl_row() { return deep_kernel_row("pp-dkl", pp_dkl); }

}  // namespace slimbayes
