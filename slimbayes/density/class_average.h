#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace slimbayes {

// The class probabilities of one row, averaged over Gaussian logits, in plain numbers: what
// answers/class_likelihood.h computes for tensors, to 1e-12 of a probability.

/// Returns -sum p log p, in nats. A probability of 0 adds nothing.
double entropy_of(std::span<const double> probabilities);

/// Writes the softmax of the logits to `p`, which may be the same memory. One logit f and two probabilities
/// are (sigmoid(-f), sigmoid(f)).
void softmax(std::span<const double> logits, std::span<double> p);

/// Writes the probabilities of two classes to p [2], sigmoid(-f) and sigmoid(f) averaged over f ~ N(mean,
/// var), and returns the average of their entropy (BernoulliLikelihood::predictive).
double average_sigmoid(double mean, double var, std::span<double> p);

/// The draws over which the softmax of k logits is averaged (SoftmaxLikelihood::predictive): the same for
/// every row.
class SoftmaxDraws {
 public:
  /// `key`: that of the stream. `samples`: their number, rounded up to an even one.
  SoftmaxDraws(uint64_t key, int64_t logits, int64_t samples = 1024);

  int64_t logits() const { return logits_; }

  /// Writes the probabilities of the classes to p [k], averaged over independent logits with these means and
  /// sds [k], and returns the average of their entropy. `work` [3 k].
  double average(std::span<const double> mean, std::span<const double> sd, std::span<double> p,
                 double* work) const;

  /// The same for correlated logits mean + root z with z ~ N(0, I). root [k, k] row after row.
  double average_correlated(std::span<const double> mean, std::span<const double> root, std::span<double> p,
                            double* work) const;

 private:
  template <class Offsets>
  double averaged(std::span<const double> mean, std::span<double> p, double* work, Offsets offsets) const;

  int64_t logits_;
  std::vector<double> z_;  // [samples / 2, k]
};

}  // namespace slimbayes
