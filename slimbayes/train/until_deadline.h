#pragma once

#include <string>

#include "slimbayes/train/callback.h"

namespace slimbayes {

/// A callback for a part of a fit that may take so many seconds from its construction. It passes reports and
/// notes on to `inner` (not owned, may be nullptr) and stops the part when `inner` does or when the time is
/// over. Stages are not passed on: the whole names its own parts.
class UntilDeadline : public Callback {
 public:
  UntilDeadline(Callback* inner, double seconds);
  void report(const Progress& progress) override;
  void note(const std::string& sentence) override;
  bool stop() override;
  bool asked() const { return asked_; }  // whether `inner` stopped the part

 private:
  Callback* inner_;
  double end_;  // seconds of the steady clock
  bool late_ = false, asked_ = false;
};

}  // namespace slimbayes
