#include "slimbayes/method/timed_part.h"

#include <limits>
#include <utility>

namespace slimbayes {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

double seconds_left(const FitContext& context) {
  if (!context.until) return std::numeric_limits<double>::infinity();
  return Seconds(*context.until - Clock::now()).count();
}

TimedPart::TimedPart(FitContext part, size_t parts)
    : context_(std::move(part)),
      until_(context_.callback, seconds_left(context_) / static_cast<double>(parts)) {
  if (!context_.until) return;
  context_.until = Clock::now() + (*context_.until - Clock::now()) / static_cast<int64_t>(parts);
  context_.callback = &until_;
}

}  // namespace slimbayes
