#pragma once

#include <any>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// The time at which a job is told to end; nullopt: it has no limit.
using JobDeadline = std::optional<std::chrono::steady_clock::time_point>;

/// Returns the seconds until then, below 0 after it; infinite for nullopt.
inline double seconds_until(const JobDeadline& deadline) {
  if (!deadline) return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(*deadline - std::chrono::steady_clock::now()).count();
}

class JobRanks;

/// What a job gets while it runs.
struct JobContext {
  CheckpointPolicy checkpoint;  // the job's own file, named after the record: `path`.<number>
  Callback* callback;           // of the job; nullptr: nobody watches
  JobDeadline until = {};       // as given to Jobs::ahead or Jobs::take
  int workers = 1;              // of a series of jobs that this job begins itself
  int beside = 1;               // how many jobs of this series run beside each other, this one included
};

/// Several fits of one call that share a record, such as the members of an ensemble.
struct JobPlan {
  CheckpointPolicy checkpoint = {};  // of the record; the empty path: nothing is kept
  std::string kind;                  // distinguishes the record from other checkpoints
  Callback* callback = nullptr;      // of the caller, not owned
  int workers = 1;                   // jobs that run beside each other
  /// The name of a job for the progress line, such as "2/5"; nullptr: none is shown.
  std::function<std::string(size_t job)> title = nullptr;
  /// The processes that run every job together (FitContext::ranks); nullptr: this process alone. With ranks,
  /// `workers` is 1.
  const Collective* ranks = nullptr;
  /// The ranks that run the jobs, each of them on one rank; nullptr: this process alone. Not with `ranks`.
  JobRanks* job_ranks = nullptr;
};

/// How a job ended.
template <class Result>
struct JobOutcome {
  std::optional<Result> result;  // nothing if the job threw
  std::exception_ptr thrown;     // what it threw
  double seconds = 0;            // run time; of a result from the checkpoint that of the earlier process
  double cpu_seconds = 0;        // CPU time of its thread; 0 for a result from the checkpoint

  /// Returns the result, or throws what the job threw.
  const Result& value() const {
    if (thrown) std::rethrow_exception(thrown);
    return *result;
  }
};

/// What the jobs of a series do. The functions may be called from several threads at once.
template <class Result>
struct JobWork {
  std::function<Result(size_t job, const JobContext&)> run;
  /// The result as the contents of a file, and back. `load` may throw whatever bad contents cause.
  std::function<TensorFile(const Result&)> save;
  std::function<Result(size_t job, const TensorFile&)> load;
  /// Returns whether the job ran to its end. The result of a job that the caller stopped is not kept in the
  /// checkpoint, so that a resumed run continues that job.
  std::function<bool(const Result&)> whole;
};

/// Returns the number of equal shares into which the time left for `jobs` jobs is divided if `workers` of
/// them run at the same time: jobs / workers, rounded up, at least 1.
size_t time_shares(size_t jobs, int workers);

/// The queue behind Jobs<Result>, for results of any type.
class JobQueue {
 public:
  JobQueue(JobPlan plan, JobWork<std::any> work);
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void begin();
  void begin_after(const std::any& first);
  void ahead(const std::vector<std::pair<size_t, JobDeadline>>& order);
  void drop(size_t first, size_t end);
  JobOutcome<std::any> take(size_t job, JobDeadline until);
  bool has(size_t job) const;
  CheckpointPolicy part(size_t job) const;
  int workers() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs independent fits of one call: the members of an ensemble, the combinations of a search, folds, the
/// candidates of `auto`, the fits of a comparison. The caller takes their results one after another, in the
/// order of its own algorithm, and each result may decide which job it takes next. The caller tells ahead()
/// which jobs it will probably take, so that several workers can begin them. The results are the same for any
/// number of workers, because a job sees only its number, its stream and its rows. A result that the caller
/// does not take is dropped. So after a stop the caller calls take() for every job for which has() is true,
/// and no finished job is lost.
///
/// With one worker, or within a job of another series, a job runs in take(), on the caller's thread and with
/// its number of threads. With more, each worker computes with one thread of its own, and the caller's thread
/// waits: it reports the jobs that run, passes on notes, and asks the caller's callback whether to stop. No
/// other thread calls that callback.
///
/// Checkpoints: the file `path` is the record of the series, `path`.<number> the checkpoint of a running job
/// or the result of a finished one. So a killed run loses no finished job, and a resumed one takes their
/// results from the files, whatever the number of workers was.
///
/// With JobPlan::job_ranks every other rank is a worker too. Rank 0 writes all files, so a job that runs
/// elsewhere has no checkpoint of its own: only its result is kept.
template <class Result>
class Jobs {
 public:
  Jobs(JobPlan plan, const JobWork<Result>& work)
      : queue_(
            std::move(plan),
            {[run = work.run](size_t job, const JobContext& context) { return std::any(run(job, context)); },
             [save = work.save](const std::any& result) {
               return save(std::any_cast<const Result&>(result));
             },
             [load = work.load](size_t job, const TensorFile& file) { return std::any(load(job, file)); },
             [whole = work.whole](const std::any& result) {
               return whole(std::any_cast<const Result&>(result));
             }}) {}

  /// Begins the series: finds the record of an earlier run if the policy says so, else removes old files and
  /// writes a new record. Call it once, before take(). Throws std::invalid_argument if the record belongs to
  /// another fit; while no job is finished, only the fingerprint of the training is compared. Throws
  /// DataError if the record is damaged. On another rank than 0 of job_ranks this runs jobs for rank 0
  /// and then throws JobsServed.
  void begin() { queue_.begin(); }

  /// Begins the series with the result of job 0, which was made outside of it and whose checkpoint may lie at
  /// the path of the record.
  void begin_after(const Result& first) { queue_.begin_after(std::any(first)); }

  /// Sets which jobs the workers begin next, in this order; it replaces the earlier list. Jobs that run or
  /// have ended are left alone.
  void ahead(const std::vector<std::pair<size_t, JobDeadline>>& order) { queue_.ahead(order); }
  void ahead(size_t first, size_t end, JobDeadline until = {}) {
    std::vector<std::pair<size_t, JobDeadline>> order;
    for (size_t job = first; job < end; ++job) order.emplace_back(job, until);
    queue_.ahead(order);
  }

  /// Drops the jobs first, ..., end - 1, which the caller will not take, so that the workers can begin
  /// others. A dropped job that runs is told to stop. Its result is not kept, except in a checkpoint, where a
  /// resumed series finds it, and its further notes are not passed on.
  void drop(size_t first, size_t end) { queue_.drop(first, end); }

  /// Returns how the job ended. Waits for the worker that runs it or reads its result from the checkpoint;
  /// otherwise runs it now. Call it at most once for a job, and not after drop().
  JobOutcome<Result> take(size_t job, JobDeadline until = {}) {
    JobOutcome<std::any> any = queue_.take(job, until);
    JobOutcome<Result> own{{}, any.thrown, any.seconds, any.cpu_seconds};
    if (any.result) own.result = std::any_cast<Result>(std::move(*any.result));
    return own;
  }

  /// Returns whether a worker has begun the job or its result is in the checkpoint, and it is not dropped.
  /// take() then begins nothing.
  bool has(size_t job) const { return queue_.has(job); }

  /// Returns the checkpoint policy of a job: the path `path`.<job> and a fingerprint that names the job.
  CheckpointPolicy part(size_t job) const { return queue_.part(job); }

  /// Returns how many jobs run beside each other: JobPlan::workers and those of other ranks, or 1 within a
  /// job of another series.
  int workers() const { return queue_.workers(); }

 private:
  JobQueue queue_;
};

}  // namespace slimbayes
