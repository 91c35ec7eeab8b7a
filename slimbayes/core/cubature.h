#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace slimbayes {

/// What an integral came to.
struct Integral {
  double value = 0;
  double error = 0;   // estimate of |value - integral|; of a smooth integrand up to three axes far above it
  int64_t nodes = 0;  // how often the integrand was asked for
};

/// When to stop: at an error of `relative` times |value|, or before the integrand was asked for at more than
/// `nodes` places.
struct Accuracy {
  double relative;
  int64_t nodes;
};

/// The integral over [-1, 1]^d of an integrand f >= 0, f(x [q, d] float64) -> [q] of any float type, by
/// adaptive subdivision: Gauss-Kronrod rules up to three axes, random points beyond. `probes` [p, d] (p = 0
/// for none) are places where f may be large: no narrow peak that one of them lies on is missed. A value of f
/// that is not finite ends the search with that value and an infinite error. The same arguments give the same
/// answer. Throws std::invalid_argument unless d >= 1.
Integral integral(const std::function<at::Tensor(const at::Tensor& x)>& f, const at::Tensor& probes,
                  const Accuracy& accuracy);

}  // namespace slimbayes
