#include "slimbayes/core/stored.h"
#include "slimbayes/methods/weight_space/inducing/inducing_network.h"
#include "slimbayes/methods/weight_space/rows.h"

// fid-gp: a network whose weights are drawn given a few inducing weights (FiD-GP, docs/references.md).
//
// Model       Each matrix W and a small matrix U are jointly Gaussian, with a covariance that is a Kronecker
//             product of rows and columns (bayes/inducing_conditional.h). y = network_W(x) + noise.
// Estimator   q(U) is a Gaussian that a flow maps, and W given U is the prior's conditional distribution with
//             its noise scaled by lambda, drawn by Matheron's rule. Trained on the evidence lower bound
//             (methods/weight_space/variational_network.cpp); the KL counts only after kl_zero epochs.
// Cost        M_out d_out + M_in d_in + 2 M_out M_in numbers for a layer of d_out d_in weights. A draw costs
//             two products of the size of W, five with their gradients, whatever the batch.
// When        For a Bayesian network that is smaller than the deterministic one: wide convolutions.
// Deviations  The flow has a Lipschitz constant of at most 1 by construction (--flow certified). The paper's
//             spectral normalisation does not give one (--flow paper).

namespace slimbayes {

RegistryRow fid_gp_row() { return inducing_row<FidGpOptions>("fid-gp", "matheron"); }

}  // namespace slimbayes
