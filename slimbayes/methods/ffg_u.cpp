#include "slimbayes/core/stored.h"
#include "slimbayes/families/weight_space/inducing_network.h"

// ffg-u: inducing weights with a Gaussian posterior (Ritter et al. 2021, docs/references.md), the baseline of
// FiD-GP.
//
// Model       That of fid-gp.
// Estimator   As fid-gp with a Gaussian q(U) without a flow. Its KL is in closed form.
// Cost        As fid-gp, without the flow.
// When        To see what the flow of fid-gp is worth.

namespace slimbayes {

std::unique_ptr<Method> make_ffg_u(const nlohmann::json& options) {
  return variational_method(inducing_network<InducingOptions>("ffg-u", options, "matheron"));
}

std::unique_ptr<Fitted> load_ffg_u(const TensorFile& file) {
  return load_variational(
      inducing_network<InducingOptions>("ffg-u", stored_json(file, "options"), "matheron"), file);
}

}  // namespace slimbayes
