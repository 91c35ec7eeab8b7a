#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimbayes/engine/buffer.h"
#include "slimbayes/engine/linear_head.h"

namespace slimbayes::engine {

/// A linear head (linear_head.h) in the form in which it answers.
class PackedHead {
 public:
  /// `rank`: of the features. Throws std::invalid_argument for a head that does not fit them, and for numbers
  /// that are not finite or variances below 0.
  PackedHead(const LinearHead& head, int64_t rank);

  int64_t rank() const { return rank_; }

  /// Answers from the features phi [rows, rank] of at most kChunkRows rows, with padded rows: writes the mean
  /// without the network's output, the aleatoric and the epistemic variance to out [3, rows] with the stride
  /// `ldo`. Returns the number of rows whose epistemic variance rounding made negative. `scratch`: kChunkRows
  /// doubles.
  int64_t answer(const double* phi, int64_t rows, double* out, int64_t ldo, double* scratch) const;

 private:
  void pack_root(const std::vector<double>& root);

  int64_t rank_, outputs_ = 0;  // r, q
  double constant_, noise_var_, constant_var_, response_constant_;
  std::optional<double> largest_, prior_var_;
  Doubles weights_, root_constant_, response_, root_;
  kernels::Triangle triangle_ = kernels::Triangle::full;
};

}  // namespace slimbayes::engine
