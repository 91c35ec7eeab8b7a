#include "slimbayes/families/method.h"

#include <stdexcept>

#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/families/batches.h"
#include "slimbayes/families/trained_network.h"

namespace slimbayes {

Scores Fitted::ood(const Dataset& data) const {
  const auto trained = network();
  if (!trained || trained->noise_var > 0) return {};
  const Network logits(trained->spec, "network", as_type(trained->weights, at::kFloat));
  const Latent f = latent_rows(data, trained->spec.input, at::kFloat, {}, "ood", [&](const Input& input) {
    const at::Tensor mean = logits(input).to(at::kDouble);
    return Latent{mean, at::zeros_like(mean)};
  });
  return {{"energy", energy(f.mean)}};
}

std::unique_ptr<Fitted> Fitted::updated(const Dataset&, const Dataset&) const {
  throw std::invalid_argument(
      "[update] expected a method with an exact posterior; received one without; fit it again on all rows");
}

}  // namespace slimbayes
