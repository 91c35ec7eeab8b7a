#include "slimbayes/core/stored.h"
#include "slimbayes/methods/weight_space/inducing/inducing_network.h"
#include "slimbayes/methods/weight_space/rows.h"

// ffg-u: inducing weights with a Gaussian posterior (Ritter et al. 2021, docs/references.md), the baseline of
// FiD-GP.
//
// Model       That of fid-gp.
// Estimator   As fid-gp with a Gaussian q(U) without a flow. Its KL is in closed form.
// Cost        As fid-gp, without the flow.
// When        To see what the flow of fid-gp is worth.

namespace slimbayes {

RegistryRow ffg_u_row() { return inducing_row<InducingOptions>("ffg-u", "matheron"); }

}  // namespace slimbayes
