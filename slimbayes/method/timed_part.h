#pragma once

#include <cstddef>

#include "slimbayes/method/method.h"
#include "slimbayes/train/until_deadline.h"

namespace slimbayes {

/// Returns the seconds until FitContext::until, below 0 after it; infinite without one.
double seconds_left(const FitContext& context);

/// One of several fits of a call with a time limit, such as a combination of a search or a fold. It gets an
/// equal share of the time that is left and is told to end when the share is used up (Callback::late).
/// Without a time limit, context() is the context that was given. Keep this object until the fit ends,
/// because the fit uses its callback.
class TimedPart {
 public:
  /// `parts` is the number of shares into which the time is divided: the number of fits that are left, this
  /// one included, or fewer if several run at the same time (time_shares in train/jobs.h).
  TimedPart(FitContext part, size_t parts);
  TimedPart(const TimedPart&) = delete;

  const FitContext& context() const { return context_; }

 private:
  FitContext context_;
  UntilDeadline until_;
};

}  // namespace slimbayes
