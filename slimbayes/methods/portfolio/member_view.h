#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// The change of the rows before a member of a portfolio is fitted to them: its inputs get the scale that its
/// method expects, and a positive target may be replaced by its logarithm.
struct MemberView {
  /// The member sees (x - input_shift) / input_scale. [d] float64; undefined: the inputs as they are.
  at::Tensor input_shift, input_scale;
  TargetWarp warp = TargetWarp::none;
  /// With TargetWarp::log the member sees (log((y - low) / unit) - log_mean) / log_sd, where y is the encoded
  /// target.
  double low = 0, unit = 1, log_mean = 0, log_sd = 1;
  /// The range of the target, as the member sees it, of all rows of the fit, also of those that a fold holds
  /// out. With TargetWarp::log its answers are clamped:
  /// the mean to [seen_low - width, seen_high + 2 spare_sd], the sd to at most the width of the range. The
  /// exponential of a far extrapolation would overflow.
  double seen_low = 0, seen_high = 0;
  /// The sd of the log targets above their median, mirrored around it, in units of log_sd; limited to [0.1,
  /// 1]. Targets near 0 have logarithms that say nothing of the larger ones. It bounds the mean and the sd of
  /// the answers (DensityComponent::spare_var).
  double spare_sd = 1;
};

/// Returns whether the target of these rows can be seen through its logarithm: a regression whose targets are
/// not negative in the user's units, and not all 0. Not within bounds, which have a transform already.
bool allows_log_target(const Dataset& rows);

/// Returns the view of a method on these rows, by their weights. `min_max` maps the range of every input to
/// [-1, 1]; only for vectors of numbers. With TargetWarp::none the target is unchanged. Targets of 0 are
/// moved away from the logarithm's pole by half the least positive target, or a hundredth of the median one
/// if that is larger.
MemberView fitted_view(const Dataset& rows, bool min_max, TargetWarp warp);

/// Returns the rows as the member sees them. Without a change the dataset itself.
Dataset rows_in_view(const MemberView& view, const Dataset& rows);

/// Turns the answer `p` of a member, on the target that the member was fitted to, into an answer on the
/// dataset's own target. With TargetWarp::log its density is log-normal; other tasks are unchanged.
Predictive answer_in_target_units(const MemberView& view, const Predictive& p);

/// Store and read a view; stored_view throws std::invalid_argument for one that is damaged.
void store_view(const MemberView& view, TensorFile& file);
MemberView stored_view(const TensorFile& file);

}  // namespace slimbayes
