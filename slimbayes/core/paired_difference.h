#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

/// The difference of a score between two methods on repeated random splits of one data set.
struct SLIMBAYES_EXPORT PairedDifference {
  double mean;            // over the splits
  double standard_error;  // of the mean, corrected for the rows that the splits share
  double bound;  // of |mean| under equal methods, with a probability of 95 %: 0 is rejected beyond it
  int64_t splits;

  bool decided() const;  // whether |mean| exceeds the bound
};

/// Returns the corrected resampled t test (Nadeau and Bengio 2003, section 3.2). `differences` are those of
/// the splits, at least two; `test_share` is the number of test rows divided by that of the other rows, at
/// least 0. The variance of the mean is (1 / J + test_share) times that of the J differences: the training
/// rows of different splits overlap, so that their differences are not independent. Throws
/// std::invalid_argument for fewer than two differences, one that is not finite, or a negative share.
SLIMBAYES_EXPORT PairedDifference paired_difference(const std::vector<double>& differences,
                                                    double test_share);

}  // namespace slimbayes
