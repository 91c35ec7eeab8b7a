#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/rows.h"
#include "slimbayes/methods/deep_kernel/vbll_options.h"

// vbll: a variational Bayesian last layer (Harrison et al. 2024; paper N of docs/references.md, appendix B).
//
// Model       As dbk: f(x) = c + <w, phi(x)> with phi(x) = basis(network(x)), w ~ N(0, I), y = f + noise.
// Estimator   The evidence lower bound with q(w) = N(m, L L^T). Mini-batches of
//             -log N(y; c + <m, phi>, noise) + ||L^T phi||^2 / (2 noise) + beta / n KL
//             train network, basis, q(w), c and the noise variance.
// Cost        As dbk.
// When        For classes and counts, and for numbers if you need the aleatoric and the epistemic
//             variance. All rows have one noise variance.
// Deviations  dbk's training recipe, but without focus and with a noise variance that starts at 0.1. The
//             hierarchical priors of Harrison et al. are omitted, as in paper N's VBLL baseline.

namespace slimbayes {

namespace {

DeepKernel vbll(const nlohmann::json& options) {
  auto o = options_from_json<VbllOptions>(options, "vbll");
  DeepKernel kernel;
  kernel.method = "vbll";
  kernel.options = options_to_json(o);
  kernel.network = [network = o.network](const Shape& input, int64_t tokens) {
    return network_for(network, input, tokens);
  };
  kernel.basis = o.basis;
  kernel.rank = o.rank;
  kernel.objective = {DataTerm::expected, 0, o.beta};
  kernel.training = o.training;
  kernel.noise = o.noise;
  return kernel;
}

}  // namespace

RegistryRow vbll_row() { return deep_kernel_row("vbll", vbll); }

}  // namespace slimbayes
