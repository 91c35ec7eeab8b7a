#pragma once

#include <ATen/ATen.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "slimbayes/method/method.h"

namespace slimbayes::contract {

/// Returns the means, variances or probabilities of an answer. [n, ...]
inline at::Tensor numbers(const Predictive& p) {
  const auto of = [](const auto& a) -> at::Tensor {
    using A = std::decay_t<decltype(a)>;
    if constexpr (std::is_same_v<A, Regression>)
      return at::stack({a.mean, a.aleatoric_var, a.epistemic_var}, 1);
    else if constexpr (std::is_same_v<A, Classes>)
      return a.probabilities;
    else
      return at::stack({a.rate.log_mean, a.rate.log_var}, 1);
  };
  return std::visit(of, p);
}

/// Returns the bytes of the file of a fitted method.
inline std::string bytes_of(const Fitted& fitted) {
  const std::vector<std::byte> bytes = to_bytes(fitted.save());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Stops a fit after a number of steps.
struct StopAfter : Callback {
  int64_t left;
  explicit StopAfter(int64_t steps) : left(steps) {}
  bool stop() override { return left-- <= 0; }
};

}  // namespace slimbayes::contract
