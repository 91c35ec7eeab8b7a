#include "slimbayes/train/until_deadline.h"

namespace slimbayes {

UntilDeadline::UntilDeadline(Callback* inner, double seconds) : inner_(inner), seconds_(seconds) {}

void UntilDeadline::report(const Progress& progress) {
  if (inner_) inner_->report(progress);
}

void UntilDeadline::note(const std::string& sentence) {
  if (inner_) inner_->note(sentence);
}

bool UntilDeadline::stop() { return inner_ && inner_->stop(); }

bool UntilDeadline::late() {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  return spent.count() > seconds_ || (inner_ && inner_->late());
}

}  // namespace slimbayes
