#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

  /// Returns the metrics of all pixels so far as a JSON object. Throws std::invalid_argument if all are void.
  ///   pixels, void            numbers of labelled and of void pixels
  ///   accuracy, nll, brier, base_class, base_rate, nll_constant, f1_macro, confusion, classes
  ///                           those of classes_report() (answers/class_metrics.h)
  ///   miou                    mean intersection over union of the classes that some pixel has, TP / (TP + FP
  ///                           + FN)
  ///   mpa                     mean pixel accuracy of these classes, TP / (TP + FN)
  ///   iou, class_accuracy     the two by the name of the class
  ///   absent                  names of the classes that no labelled pixel has: they are in neither mean
  ///   ece, mce, reliability   calibration in 15 bins of equal mass, by ScoreBins
  ///   ece_width               expected calibration error in 15 bins of equal width, exact
  ///   mean_entropy, mean_mutual_information
  ///                           means over the labelled pixels, in nats
  ///   errors                  how well scores of uncertainty find the wrong pixels: wrong, rate; for each
  ///                           score auroc, bound (of its rounding error) and aupr_err, by ScoreBins; absent
  ///                           instead if no pixel or every pixel is wrong
  nlohmann::json report() const;

 private:
  void add_calibration(nlohmann::json& report) const;
  void add_errors(nlohmann::json& report) const;

  std::vector<std::string> levels_;
  int64_t void_ = 0;
  double nll_ = 0, brier_ = 0, entropy_ = 0, information_ = 0;  // sums over the labelled pixels
  at::Tensor confusion_;                                        // [C, C] int64
  at::Tensor gaps_;  // [15] sums of right - confidence in bins of equal width
  std::map<std::string, ScoreBins> scores_;
};

}  // namespace slimbayes
