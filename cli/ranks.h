#pragma once

#include <memory>

#include "cli/progress.h"
#include "cli/request.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/collective.h"

namespace slimbayes::cli {

/// Returns the processes of this group; nullptr for one process alone. Throws, as together() does, unless all
/// of them have this version of the library.
std::shared_ptr<const Collective> ranks_of(const RankOfGroup& rank);

/// The callback of a rank above 0. It says nothing, and stops when any rank does.
class Follower : public Callback {
 public:
  bool stop() override { return stopped_ || InterruptGuard::interrupted(); }
  void follow(Stopped why) override { stopped_ = stopped_ || why == Stopped::interrupted; }

 private:
  bool stopped_ = false;
};

}  // namespace slimbayes::cli
