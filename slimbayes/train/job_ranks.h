#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/collective.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

/// The ranks of a fit as workers of its independent parts. Rank 0 makes the fit as one process does. The
/// other ranks make it from the same data up to its first series of jobs (jobs.h), run jobs of that series
/// for rank 0, and end (JobsServed). So only rank 0 decides, by its clock and its rounding, which jobs there
/// are, and the ranks may differ in speed and processor.
///
/// While the series runs, all ranks exchange two short messages every 20 ms, and the results of jobs that
/// have ended. A rank that ends ends the fit (RanksEnded). No one else may use the collective in that time.
class JobRanks {
 public:
  /// `ranks` must outlive this object.
  explicit JobRanks(const Collective& ranks);
  /// Rank 0: lets the others end, if release() has not.
  ~JobRanks();
  JobRanks(const JobRanks&) = delete;
  JobRanks& operator=(const JobRanks&) = delete;

  int64_t size() const;    // number of ranks, this one included
  bool is_worker() const;  // whether this rank runs jobs for rank 0

  /// Claims the ranks for a series of this kind, and returns whether it may use them: only the first one
  /// may, and only if the other ranks have come to the same kind. Any thread may call it, but the first call
  /// is made by one.
  bool claim(const std::string& kind);

  /// Rank 0, after claim(): runs a job on another rank and returns its answer; in one thread for each rank.
  /// `callback` tells when to stop. Throws RanksEnded.
  TensorFile run(int64_t rank, size_t job, Callback& callback, JobDeadline until);

  /// Rank 0: returns whether a user has interrupted another rank. Throws RanksEnded if one has ended.
  bool interrupted() const;

  /// Rank 0: ends the series. No run() may be in progress.
  void release();

  /// Other ranks, after claim(): runs the jobs that rank 0 asks for until release(). `run` is called on a
  /// thread of its own, with a callback that passes on what rank 0 tells and that keeps notes; it does not
  /// throw. `watch` (nullptr: nobody) tells whether the user interrupts this rank. Throws RanksEnded.
  using Run = std::function<TensorFile(size_t job, Callback& callback, JobDeadline until)>;
  void serve(const Run& run, Callback* watch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slimbayes
