#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/answers/class_metrics.h"

namespace slimbayes {

/// Counts of rows by the value of a score, from which ranking and calibration metrics follow without the rows
/// in memory. A bin holds the scores whose float32 forms agree in sign, exponent and the first 11 bits of the
/// mantissa: a relative width below 2^-11, however small the score. A metric is that of scores rounded to the
/// bins: exact, except that scores of one bin count as equal. Takes 12 MB.
class ScoreBins {
 public:
  ScoreBins();

  /// Adds rows with these scores [n], each finite and at least 0, larger for a less certain row; `wrong` [n]
  /// bool says which rows were answered wrongly. Throws std::invalid_argument for another score.
  void add(const at::Tensor& score, const at::Tensor& wrong);

  int64_t rows() const;   // number of rows so far
  int64_t wrong() const;  // number of wrong rows

  /// Returns the AUROC with the wrong rows as positives, where a tie counts one half, and the most by which
  /// that of the unrounded scores may differ: half the share of the pairs of a wrong and a right row that
  /// share a bin. There must be a wrong and a right row.
  struct Auroc {
    double value, bound;
  };
  Auroc auroc() const;

  /// Returns the average precision (answers/ranking.h) with the wrong rows as positives. There must be one.
  double average_precision() const;

  /// Returns the reliability diagram in bins of equal mass, like reliability() of answers/class_metrics.h.
  /// The score must be 1 - the largest probability. There must be a row.
  Reliability reliability(int64_t bins = 15) const;

 private:
  at::Tensor rows_, wrong_;  // [2^19] int64, counts by bin, ascending by score
  at::Tensor sum_;           // [2^19] float64, sums of the scores by bin
};

}  // namespace slimbayes
