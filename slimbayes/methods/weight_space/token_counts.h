#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Counts in how many batches of an epoch each token of an embedding occurs. The KL of a token's row is
/// multiplied by m / c in each of the c batches with the token, of m in all. Then an epoch counts it as often
/// as the KL of a weight that is used in every batch. Where rows have weights, an epoch has the rows that
/// were drawn by them, some repeated and some left out: a token of rows that it leaves out has neither
/// likelihood nor KL in it.
class TokenCounts {
 public:
  /// Reads the tokens of all rows once and keeps them on the CPU: 8 bytes for each token of each text.
  /// Padding is left out.
  TokenCounts(const Dataset& rows, int64_t vocabulary);

  /// Returns the tokens that occur in no row, ascending. [u] int64
  at::Tensor unseen() const;

  /// Counts the batches of an epoch, each given by its row indices [b] int64.
  void count(const EpochBatches& batches);

  /// Returns m / c of each of these tokens [u] int64, for KlContext::row_weights; 1 for a token that occurs
  /// in no row (padding). Tokens and result are on the device of the rows. Float32. [u]
  at::Tensor row_weights(const at::Tensor& tokens) const;

 private:
  int64_t vocabulary_;
  std::vector<int64_t> tokens_, first_;  // distinct tokens of all rows; where those of row i begin [n + 1]
  at::Tensor weights_;                   // m / c of each token [vocabulary] float32, on the rows' device
};

}  // namespace slimbayes
