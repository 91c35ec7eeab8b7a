#include "slimbayes/core/stored.h"
#include "slimbayes/methods/weight_space/inducing/inducing_network.h"
#include "slimbayes/methods/weight_space/rows.h"

// fid-gp-reparam: fid-gp with independent noise of the weights (FiD-GP, docs/references.md).
//
// Model       W given U is N(E[W | U], s^2 I) with the mean of fid-gp and the prior sd s. This is another
//             model than fid-gp, not another way to draw from it: its noise ignores what U says of W.
// Estimator   As fid-gp, with one random number for each weight.
// Cost        As fid-gp, without the products of the noise.
// When        To compare with fid-gp, or where its draws are too slow.

namespace slimbayes {

RegistryRow fid_gp_reparam_row() { return inducing_row<FidGpOptions>("fid-gp-reparam", "reparam"); }

}  // namespace slimbayes
