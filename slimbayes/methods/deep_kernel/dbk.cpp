#include "slimbayes/methods/deep_kernel/dbk_options.h"
#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/rows.h"

// dbk: a deep basis kernel (paper N of docs/references.md, section 3; N-15 is its equation 15).
//
// Model       f(x) = c + <w, phi(x)>, w ~ N(0, I), y = f + noise. phi(x) = basis(network(x)) has r features,
//             so the kernel <phi(x), phi(x')> has rank r.
// Estimator   The objective dPPGP (N-15) with q(w) = N(m, L L^T). Mini-batches of
//             -log N(y; c + <m, phi>, ||L^T phi||^2 + noise) + alpha trace + beta / n KL
//             train network, basis, q(w), c and the noise variance. KL is KL(q || N(0, I)), `trace` the trace
//             regulariser (objectives/head_gradient.h).
// Cost        O(b (h^2 + r h + r^2)) per step of b rows with h hidden units, and O(r^2) per predicted row,
//             both independent of n; basis rbf adds O(r^3).
// When        The default for numbers, also where the noise differs from row to row. The objective calibrates
//             only the total variance: its two parts are not the aleatoric and the epistemic variance (N,
//             section 3.2). Use vbll if you need these.
// Deviations  noise = exp(theta) + floor with its own learning rate; early steps weight the rows by their
//             variance (focus); the training recipe of catalog/training_options.h.

namespace slimbayes {

namespace {

DeepKernel dbk(const nlohmann::json& options) {
  auto o = options_from_json<DbkOptions>(options, "dbk");
  DeepKernel kernel;
  kernel.method = "dbk";
  kernel.options = options_to_json(o);
  kernel.network = [network = o.network](const Shape& input, int64_t tokens) {
    return network_for(network, input, tokens);
  };
  kernel.basis = o.basis;
  kernel.rank = o.rank;
  kernel.objective = {DataTerm::predictive, o.alpha, o.beta};
  kernel.focus = o.focus;
  kernel.training = o.training;
  kernel.noise = o.noise;
  return kernel;
}

}  // namespace

RegistryRow dbk_row() { return deep_kernel_row("dbk", dbk); }

}  // namespace slimbayes
