#include "slimbayes/train/until_deadline.h"

#include <chrono>

namespace slimbayes {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

UntilDeadline::UntilDeadline(Callback* inner, double seconds)
    : inner_(inner), end_(seconds_now() + seconds) {}

void UntilDeadline::report(const Progress& progress) {
  if (inner_) inner_->report(progress);
}

void UntilDeadline::note(const std::string& sentence) {
  if (inner_) inner_->note(sentence);
}

bool UntilDeadline::stop() {
  late_ = late_ || seconds_now() > end_;
  asked_ = asked_ || (inner_ && inner_->stop());
  return late_ || asked_;
}

}  // namespace slimbayes
