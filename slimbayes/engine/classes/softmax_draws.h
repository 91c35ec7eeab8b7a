#pragma once

#include <cstdint>
#include <span>

#include "slimbayes/engine/buffer.h"

namespace slimbayes::engine {

/// The draws over which the softmax of k logits is averaged, the same for every row, in plain numbers: what
/// SoftmaxLikelihood::predictive (answers/class_likelihood.h) computes for tensors, to 1e-12 of a
/// probability.
class SoftmaxDraws {
 public:
  /// `key`: that of the stream. `samples`: their number, rounded up to an even one.
  SoftmaxDraws(uint64_t key, int64_t logits, int64_t samples = 1024);

  int64_t logits() const { return logits_; }
  int64_t work_doubles() const { return (3 * logits_ + 4) * kTogether; }

  /// Writes the probabilities of the classes to p [k], averaged over independent logits with these means and
  /// sds [k], and returns the average of their entropy. `work` [work_doubles()], aligned to 64 bytes.
  double average(std::span<const double> mean, std::span<const double> sd, std::span<double> p,
                 double* work) const;

  /// The same for correlated logits mean + root z with z ~ N(0, I). root [k, k] row after row.
  double average_correlated(std::span<const double> mean, std::span<const double> root, std::span<double> p,
                            double* work) const;

 private:
  static constexpr int64_t kTogether = 64;  // pairs of draws

  template <class Offsets>
  double averaged(std::span<const double> mean, std::span<double> p, double* work, Offsets offsets) const;

  int64_t logits_, pairs_;
  Doubles z_;  // of each logit its draws: [k, pairs] with padded rows
};

}  // namespace slimbayes::engine
