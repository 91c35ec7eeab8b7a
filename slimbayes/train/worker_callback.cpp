#include "slimbayes/train/worker_callback.h"

namespace slimbayes {

void WorkerCallback::report(const Progress& progress) {
  const std::scoped_lock held(lock_);
  news_.running[job_] = progress;
}

void WorkerCallback::note(const std::string& sentence) {
  if (dropped_) return;
  const std::scoped_lock held(lock_);
  news_.notes.push_back(sentence);
}

bool WorkerCallback::stop() {
  signals_.asked = true;
  return signals_.stop || dropped_;
}

}  // namespace slimbayes
