#pragma once

#include <chrono>
#include <string>

#include "slimbayes/train/callback.h"

namespace slimbayes {

/// A callback for a part of a fit that may take so many seconds from its construction. It passes reports and
/// notes on to `inner` (not owned, may be nullptr), stops the part when `inner` does, and is late() when the
/// time is over. A report says no more than the time that is left. Stages are not passed on: the whole names
/// its own parts.
class UntilDeadline : public Callback {
 public:
  UntilDeadline(Callback* inner, double seconds);
  void report(const Progress& progress) override;
  void note(const std::string& sentence) override;
  bool stop() override;
  bool late() override;
  double seconds_left() const override;

 private:
  Callback* inner_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double seconds_;
};

}  // namespace slimbayes
