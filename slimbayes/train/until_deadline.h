#pragma once

#include <chrono>
#include <string>

#include "slimbayes/train/callback.h"

namespace slimbayes {

/// A callback for one part of a fit, which may run for at most `seconds` after this object's construction. It
/// passes reports and notes on to `inner` (not owned, may be nullptr). stop() is that of `inner`. late() is
/// true when the seconds are over or `inner` is late. The estimated time left in a report is at most
/// seconds_left(). stage() calls are not passed on, because the caller of the part reports its stages itself.
class UntilDeadline : public Callback {
 public:
  UntilDeadline(Callback* inner, double seconds);
  void report(const Progress& progress) override;
  void note(const std::string& sentence) override;
  bool stop() override;
  bool late() override;
  double seconds_left() const override;
  void follow(Stopped why) override;

 private:
  Callback* inner_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double seconds_;
};

}  // namespace slimbayes
