#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/rows.h"
#include "slimbayes/methods/deep_kernel/sv_dbk_options.h"

// sv-dbk: the deep basis kernel of paper E (docs/references.md) by stochastic variational inference (sections
// 3.2 and 3.3; E-11 and E-12 are its equations 11 and 12).
//
// Model       As dbk: f(x) = c + <w, phi(x)>, w ~ N(0, I). The prior variance ||phi||^2 differs from row to
//             row.
// Estimator   vbll's bound plus alpha times the trace regulariser (E-11). In prediction the diagonal
//             correction (E-12) raises the prior variance of every row to M, the largest ||phi||^2 of the
//             training rows. A larger prior variance stays as it is.
// Cost        As dbk, plus a pass over the training rows for M at the end and at each validation.
// Deviations  The training recipe of vbll.
// Ablations   The paper's variants: -c is alpha 0 with correction false, -r is rank 1, -cr is both. The paper
//             has no variant that sets only one of alpha and correction.

namespace slimbayes {

namespace {

DeepKernel sv_dbk(const nlohmann::json& options) {
  auto o = options_from_json<SvDbkOptions>(options, "sv-dbk");
  DeepKernel kernel;
  kernel.method = "sv-dbk";
  kernel.options = options_to_json(o);
  kernel.network = [network = o.network](const Shape& input, int64_t tokens) {
    return network_for(network, input, tokens);
  };
  kernel.basis = o.basis;
  kernel.rank = o.rank;
  kernel.objective = {DataTerm::expected, o.alpha, o.beta};
  if (o.correction) kernel.correction = DeepKernel::Correction::largest;
  kernel.training = o.training;
  kernel.noise = o.noise;
  return kernel;
}

}  // namespace

RegistryRow sv_dbk_row() { return deep_kernel_row("sv-dbk", sv_dbk); }

}  // namespace slimbayes
