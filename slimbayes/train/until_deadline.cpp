#include "slimbayes/train/until_deadline.h"

#include <algorithm>
#include <cmath>

namespace slimbayes {

UntilDeadline::UntilDeadline(Callback* inner, double seconds) : inner_(inner), seconds_(seconds) {}

void UntilDeadline::report(const Progress& progress) {
  if (inner_ == nullptr) return;
  Progress own = progress;
  const double left = std::max(0.0, seconds_left());
  own.left.seconds = std::min(own.left.seconds, left);
  if (std::isfinite(own.left.if_none_better))
    own.left.if_none_better = std::min(own.left.if_none_better, left);
  inner_->report(own);
}

void UntilDeadline::note(const std::string& sentence) {
  if (inner_) inner_->note(sentence);
}

bool UntilDeadline::stop() { return inner_ && inner_->stop(); }

bool UntilDeadline::late() { return seconds_left() < 0 || (inner_ && inner_->late()); }

void UntilDeadline::follow(Stopped why) {
  if (inner_) inner_->follow(why);
}

double UntilDeadline::seconds_left() const {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  const double own = seconds_ - spent.count();
  return inner_ ? std::min(own, inner_->seconds_left()) : own;
}

}  // namespace slimbayes
