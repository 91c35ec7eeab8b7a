#include "slimbayes/answers/likelihoods.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

// Returns call(l, f), where l is the likelihood that the variant holds. A softmax gets f as [b, k]. For the
// others f must be [b, 1] and is passed as [b]; otherwise throws std::invalid_argument.
template <class Call>
auto with_shape(const Likelihood& likelihood, const Latent& f, Call call) {
  return std::visit(
      [&](const auto& l) {
        if constexpr (std::is_same_v<std::decay_t<decltype(l)>, SoftmaxLikelihood>) {
          return call(l, f);
        } else {
          check_shape(f.mean, {-1, 1}, "likelihood", "mean");
          check_shape(f.epistemic_var, f.mean.sizes(), "likelihood", "epistemic_var");
          return call(l, Latent{f.mean.squeeze(1), f.epistemic_var.squeeze(1), f.zeroed});
        }
      },
      likelihood);
}

}  // namespace

at::Tensor expected_log_prob(const Likelihood& likelihood, const Latent& f, const at::Tensor& y) {
  check(!std::holds_alternative<StudentLikelihood>(likelihood), "expected_log_prob",
        "a likelihood with an expectation of its logarithm", "student", "use log_predictive");
  return with_shape(likelihood, f, [&](const auto& l, const Latent& g) -> at::Tensor {
    if constexpr (requires { l.expected_log_prob(g, y); }) return l.expected_log_prob(g, y);
    return {};
  });
}

at::Tensor log_predictive(const Likelihood& likelihood, const Latent& f, const at::Tensor& y) {
  return with_shape(likelihood, f, [&](const auto& l, const Latent& g) { return l.log_predictive(g, y); });
}

Predictive predictive(const Likelihood& likelihood, const Latent& f) {
  return with_shape(likelihood, f, [&](const auto& l, const Latent& g) { return l.predictive(g); });
}

}  // namespace slimbayes
