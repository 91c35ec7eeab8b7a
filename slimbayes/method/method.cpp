#include "slimbayes/method/method.h"

#include <stdexcept>

#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/trained_network.h"

namespace slimbayes {

namespace {

[[noreturn]] void refuse_change(const char* change) {
  throw std::invalid_argument(
      std::string("[") + change +
      "] expected a method with an exact posterior; received one without; fit it again on all rows");
}

}  // namespace

Scores Fitted::ood(const Dataset& data) const {
  const auto trained = network();
  if (!trained || trained->head.is_regression()) return {};
  const BoundNetwork logits(trained->spec, "network", as_type(trained->weights, at::kFloat));
  const Latent f = latent_rows(data, trained->spec.input, at::kFloat, {}, "ood", [&](const Input& input) {
    const at::Tensor mean = logits(input).to(at::kDouble);
    return Latent{mean, at::zeros_like(mean)};
  });
  return {{"energy", energy(f.mean)}};
}

std::unique_ptr<Fitted> Fitted::updated(const Dataset&, const Dataset&) const { refuse_change("update"); }
std::unique_ptr<Fitted> Fitted::with_noise(double) const { return nullptr; }
std::unique_ptr<Fitted> Fitted::prior() const { refuse_change("shard"); }
std::unique_ptr<Fitted> Fitted::merged(const Fitted&) const { refuse_change("merge"); }

}  // namespace slimbayes
