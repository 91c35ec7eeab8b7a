#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace slimbayes {

/// The result of integral().
struct Integral {
  double value = 0;
  /// Estimate of |value - true integral|. For smooth integrands on up to three axes it is far larger than the
  /// true error. It is infinite if the integrand was infinite or NaN at a place where it was evaluated.
  double error = 0;
  int64_t nodes = 0;  // number of evaluations of the integrand
};

/// When integral() stops: once the error is at most `relative` times |value|, or once the next subdivision
/// would take the number of evaluations of the integrand above `nodes`. Some evaluations are made even if
/// they exceed `nodes`: those at the probes, in the first boxes, and at the end around the boxes with the
/// largest values.
struct Accuracy {
  double relative;
  int64_t nodes;
};

/// Returns the integral of a function f >= 0 over the cube [-1, 1]^d. The cube is subdivided into boxes where
/// the error is large; in each box the integral is computed by a Gauss-Kronrod rule on up to three axes, and
/// from random points on more. f maps places x [q, d] float64 to values [q] of any float type.
/// `probes` [p, d] are places where f may be large, for example the training events: a narrow peak at a probe
/// is not missed. p may be 0. If f is infinite or NaN at a node, the subdivision stops and value and error
/// are not finite; if this happens only at a probe, only the error is infinite. The same arguments give the
/// same result, because the random points are always the same. Throws std::invalid_argument unless d >= 1.
Integral integral(const std::function<at::Tensor(const at::Tensor& x)>& f, const at::Tensor& probes,
                  const Accuracy& accuracy);

}  // namespace slimbayes
