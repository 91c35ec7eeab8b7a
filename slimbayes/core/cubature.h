#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace slimbayes {

/// The result of a numerical integration.
struct Integral {
  double value = 0;
  /// Estimate of |value - integral|. For smooth integrands on up to three axes it is far above the true
  /// error. Infinite if the search met a value of the integrand that is not finite.
  double error = 0;
  int64_t nodes = 0;  // number of evaluations of the integrand
};

/// When to stop: once the error is at most `relative` times |value|, or once a further subdivision would take
/// the number of evaluations above `nodes`. The integrand is always evaluated at the probes, in the first
/// boxes, and in the end around the boxes that hold most mass, even if that exceeds `nodes`.
struct Accuracy {
  double relative;
  int64_t nodes;
};

/// Integrates f >= 0 over [-1, 1]^d by adaptive subdivision: Gauss-Kronrod rules up to three axes, random
/// points beyond. f maps x [q, d] float64 to [q] of any float type. `probes` [p, d] (p = 0 for none) are
/// places where f may be large: a narrow peak at a probe is not missed. If f is infinite or NaN at a node,
/// the subdivision stops with a value that is not finite and an infinite error; if it is infinite at a probe
/// alone, the value is finite and the error infinite. The result is deterministic: the same arguments give
/// the same answer. Throws std::invalid_argument unless d >= 1.
Integral integral(const std::function<at::Tensor(const at::Tensor& x)>& f, const at::Tensor& probes,
                  const Accuracy& accuracy);

}  // namespace slimbayes
