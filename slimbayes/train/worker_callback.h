#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/train/callback.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

/// What the workers of a queue of jobs tell the caller's thread, under the queue's lock.
struct JobNews {
  std::deque<std::string> notes;
  std::vector<size_t> begun;                          // jobs, since the last look
  std::map<size_t, std::optional<Progress>> running;  // by job: its last report since the last look
};

/// What the caller's thread tells the workers, and whether one of them has asked.
struct JobSignals {
  std::atomic<bool> stop = false, late = false, asked = false;
};

/// Whether the caller will not take a job that runs.
using JobDropped = std::atomic<bool>;

/// The callback of a job on a worker's thread. It keeps what the job reports for the caller's thread.
class WorkerCallback : public Callback {
 public:
  /// `deadline` is that of the caller's call. The references must outlive this object.
  WorkerCallback(size_t job, JobNews& news, std::mutex& lock, JobSignals& signals, const JobDropped& dropped,
                 JobDeadline deadline)
      : job_(job), news_(news), lock_(lock), signals_(signals), dropped_(dropped), deadline_(deadline) {}
  void report(const Progress& progress) override;
  void note(const std::string& sentence) override;
  bool stop() override;
  bool late() override { return signals_.late || seconds_left() < 0; }
  double seconds_left() const override { return seconds_until(deadline_); }

 private:
  size_t job_;
  JobNews& news_;
  std::mutex& lock_;
  JobSignals& signals_;
  const JobDropped& dropped_;
  JobDeadline deadline_;
};

}  // namespace slimbayes
