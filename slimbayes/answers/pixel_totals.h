#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/answers/score_bins.h"

namespace slimbayes {

/// The metrics of a segmentation, from answers that are added block by block: sums and counts are kept, no
/// pixels. Float64.
class PixelTotals {
 public:
  /// `levels` are the names of the classes.
  explicit PixelTotals(std::vector<std::string> levels);

  /// Adds the answers to some pixels and their targets y [n], class numbers and kVoid (answers/pixels.h).
  /// Void pixels are counted and otherwise left out.
  void add(const Classes& p, const at::Tensor& y);

  /// Returns the metrics of all pixels so far; the number of images is left at 0. Those of `classes` are as
  /// classes_report() (answers/class_metrics.h) has them. A class that no labelled pixel has is in neither
  /// mean of PixelScores. ece, mce and reliability, auroc and aupr_err come from ScoreBins, the latter with
  /// the bound of the rounding error; ece_width is exact. Throws std::invalid_argument if all pixels are
  /// void.
  Evaluation report() const;

 private:
  void add_classes(PixelScores& scores) const;
  void add_calibration(ClassScores& scores, PixelBins& bins) const;
  ErrorsReport errors() const;

  std::vector<std::string> levels_;
  int64_t void_ = 0;
  double nll_ = 0, brier_ = 0, entropy_ = 0, information_ = 0;  // sums over the labelled pixels
  at::Tensor confusion_;                                        // [C, C] int64
  at::Tensor gaps_;  // [15] sums of right - confidence in bins of equal width
  std::map<std::string, ScoreBins> scores_;
};

}  // namespace slimbayes
