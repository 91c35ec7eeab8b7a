#include "slimbayes/train/jobs.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/failure.h"
#include "slimbayes/train/job_answer.h"
#include "slimbayes/train/job_files.h"
#include "slimbayes/train/job_ranks.h"
#include "slimbayes/train/worker_callback.h"

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kLook = 50ms;  // between two looks of the waiting caller at its callback

thread_local bool within_job = false;  // whether this thread is a worker

double cpu_seconds() {
  struct timespec spent {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

}  // namespace

size_t time_shares(size_t jobs, int workers) {
  const auto beside = static_cast<size_t>(std::max(workers, 1));
  return std::max<size_t>(1, (jobs + beside - 1) / beside);
}

class JobQueue::Impl {
 public:
  Impl(JobPlan plan, JobWork<std::any> work)
      : plan_(std::move(plan)),
        work_(std::move(work)),
        files_(plan_.checkpoint, plan_.kind, plan_.ranks),
        ranks_(!within_job && plan_.job_ranks != nullptr && plan_.job_ranks->claim(plan_.kind)
                   ? plan_.job_ranks
                   : nullptr),
        here_(within_job || plan_.ranks != nullptr ? 1 : std::max(plan_.workers, 1)),
        workers_(here_ + (ranks_ != nullptr ? static_cast<int>(ranks_->size()) - 1 : 0)) {
    if (plan_.callback == nullptr) return;
    if (const double left = plan_.callback->seconds_left(); left < 1e9)
      deadline_ =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left));
  }

  ~Impl() {
    {
      const std::scoped_lock held(lock_);
      quit_ = signals_.stop = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    if (ranks_ != nullptr) ranks_->release();
  }

  void begin() {
    if (ranks_ != nullptr && ranks_->is_worker()) serve();
    tell(files_.begin());
  }

  void begin_after(const std::any& first) {
    if (ranks_ != nullptr && ranks_->is_worker()) serve();
    outcomes_[0].result = first;
    if (files_.any()) tell(files_.begin_after(finished_file(outcomes_[0], work_)));
  }

  void ahead(const std::vector<std::pair<size_t, JobDeadline>>& order) {
    if (workers_ < 2) return;
    {
      const std::scoped_lock held(lock_);
      queue_.assign(order.begin(), order.end());
    }
    if (threads_.empty() && order.size() > (ranks_ != nullptr ? 0 : 1)) start_threads();
    changed_.notify_all();
  }

  void drop(size_t first, size_t end) {
    const std::scoped_lock held(lock_);
    for (auto at = running_.lower_bound(first); at != running_.end() && at->first < end; ++at)
      at->second = true;
    dropped_.emplace_back(first, end);
    std::erase_if(queue_, [this](const auto& next) { return is_dropped(next.first); });
    std::erase_if(outcomes_, [this](const auto& one) { return is_dropped(one.first); });
  }

  JobOutcome<std::any> take(size_t job, JobDeadline until) {
    internal_check(!is_dropped(job), "Jobs::take", "the caller takes no job that it has dropped");
    if (threads_.empty()) {
      if (auto kept = taken(job)) return std::move(*kept);
      if (plan_.callback != nullptr && !files_.is_finished(job))
        if (const std::string title = title_of({job}); !title.empty()) plan_.callback->stage(title);
      return executed(job, plan_.callback, until);
    }
    wait_for(job, until);
    return std::move(*taken(job));
  }

  bool has(size_t job) const {
    const std::scoped_lock held(lock_);
    return !is_dropped(job) && (begun_.contains(job) || outcomes_.contains(job) || files_.is_finished(job));
  }

  CheckpointPolicy part(size_t job) const { return files_.part(job); }

  int workers() const { return workers_; }

 private:
  // The caller's thread.
  bool is_dropped(size_t job) const {
    return std::ranges::any_of(dropped_, [job](auto& d) { return d.first <= job && job < d.second; });
  }

  void start_threads() {
    one_thread_.emplace(1);
    parallel_ = true;
    try {
      while (std::ssize(threads_) < workers_) {
        const auto rank = std::max<int64_t>(0, std::ssize(threads_) + 1 - here_);
        threads_.emplace_back([this, rank] { run_jobs(rank); });
      }
    } catch (const std::system_error&) {
      if (!threads_.empty()) return;
      workers_ = 1;  // the caller's thread does the work, with all threads
      one_thread_.reset();
      parallel_ = false;
    }
  }

  std::optional<JobOutcome<std::any>> taken(size_t job) {
    const std::scoped_lock held(lock_);
    const auto found = outcomes_.find(job);
    if (found == outcomes_.end()) return {};
    return std::move(outcomes_.extract(found).mapped());
  }

  /// Waits until the job has ended, and meanwhile does what only the caller's thread may do.
  void wait_for(size_t job, JobDeadline until) {
    std::unique_lock held(lock_);
    if (!begun_.contains(job)) wanted_ = {job, until};
    changed_.notify_all();
    while (!outcomes_.contains(job)) {
      changed_.wait_for(held, kLook);
      held.unlock();
      look();
      held.lock();
    }
    held.unlock();
    look();
  }

  std::string title_of(const std::vector<size_t>& running) const {
    std::vector<std::string> titles;
    for (size_t job : running)
      if (plan_.title) titles.push_back(plan_.title(job));
    return fmt::format("{}", fmt::join(titles, ", "));
  }

  void show(const std::vector<size_t>& running) {
    const std::string title = title_of(running);
    if (running != shown_ && !title.empty()) plan_.callback->stage(title);
    shown_ = running;
  }

  /// Passes on what the workers have told, and asks whether to stop.
  void look() {
    Callback* callback = plan_.callback;
    const bool elsewhere = ranks_ != nullptr && ranks_->interrupted();
    if (callback == nullptr) return;
    std::deque<std::string> notes;
    std::vector<size_t> begun, running;
    std::optional<Progress> progress;
    {
      const std::scoped_lock held(lock_);
      notes.swap(news_.notes);
      begun.swap(news_.begun);
      std::optional<size_t> shown;  // the first job of this process: others tell no progress
      for (auto& [job, last] : news_.running) {
        running.push_back(job);
        if (!shown && !elsewhere_.contains(job)) shown = job;
        if (job == shown) progress = std::exchange(last, {});
      }
    }
    for (const std::string& note : notes) callback->note(note);
    // The caller hears of each job, also of one that has ended since; then of what runs.
    for (size_t job : begun) show({job});
    if (!running.empty()) show(running);
    if (progress) callback->report(*progress);
    // Before a training has begun nobody asks, so that the caller may take a stop() for its first step.
    if (!signals_.asked) return;
    if (elsewhere) callback->follow(Stopped::interrupted);
    if (callback->stop()) signals_.stop = true;
    if (callback->late()) signals_.late = true;
  }

  /// Runs jobs for rank 0 until it has no more.
  void serve() {
    {
      const ThreadScope one_thread(1);
      parallel_ = true;
      const auto run = [this](size_t job, Callback& callback, JobDeadline until) {
        within_job = true;
        at::get_num_threads();  // this thread takes over the process's number, which is 1
        JobOutcome<std::any> outcome = computed(job, &callback, until);
        try {
          return answer_file(outcome, work_);
        } catch (...) {
          outcome.result.reset();
          outcome.thrown = std::current_exception();
          return answer_file(outcome, work_);
        }
      };
      ranks_->serve(run, plan_.callback);
    }
    throw JobsServed("rank 0 has no more jobs");
  }

  // The workers' threads.

  /// Runs jobs on this thread, or on another rank.
  void run_jobs(int64_t rank) {
    within_job = true;
    at::get_num_threads();  // this thread takes over the process's number, which is 1
    while (true) {
      std::unique_lock held(lock_);
      std::optional<std::pair<size_t, JobDeadline>> next;
      changed_.wait(held, [&] { return quit_ || (next = next_job()).has_value(); });
      if (quit_) return;
      begun_.insert(next->first);
      news_.begun.push_back(next->first);
      news_.running.emplace(next->first, std::nullopt);
      if (rank > 0) elsewhere_.insert(next->first);
      const JobDropped& dropped = running_[next->first];  // false
      held.unlock();
      changed_.notify_all();
      WorkerCallback callback(next->first, news_, lock_, signals_, dropped, deadline_);
      JobOutcome<std::any> outcome;
      try {
        outcome = executed(next->first, &callback, next->second, rank);
      } catch (...) {  // of the files
        outcome = {};
        outcome.thrown = std::current_exception();
      }
      held.lock();
      news_.running.erase(next->first);
      if (!dropped) outcomes_[next->first] = std::move(outcome);
      running_.erase(next->first);
      held.unlock();
      changed_.notify_all();
    }
  }

  /// Returns the job that a worker begins next: the one for which the caller waits, else the next in the
  /// queue. After a stop only the former is run: it ends at its first step.
  std::optional<std::pair<size_t, JobDeadline>> next_job() {
    const auto is_open = [&](size_t job) { return !begun_.contains(job); };
    if (const auto wanted = std::exchange(wanted_, {}); wanted && is_open(wanted->first)) return wanted;
    while (!queue_.empty() && !signals_.stop) {
      const auto next = queue_.front();
      queue_.pop_front();
      if (is_open(next.first)) return next;
    }
    return {};
  }

  // Either.

  JobOutcome<std::any> executed(size_t job, Callback* callback, JobDeadline until, int64_t rank = 0) {
    if (files_.is_finished(job)) return finished_outcome(job, files_.result(job), files_.place(job), work_);
    const JobOutcome<std::any> outcome =
        rank > 0 ? answered_outcome(job, ranks_->run(rank, job, *callback, until), work_)
                 : computed(job, callback, until);
    if (files_.any() && is_final(outcome, callback)) tell(files_.keep(job, finished_file(outcome, work_)));
    return outcome;
  }

  JobOutcome<std::any> computed(size_t job, Callback* callback, JobDeadline until) const {
    JobOutcome<std::any> outcome;
    const auto begin = Clock::now();
    const double cpu = cpu_seconds();
    try {
      outcome.result = work_.run(job, {part(job), callback, until, parallel_ ? 1 : here_, workers_});
    } catch (...) {
      outcome.thrown = std::current_exception();
    }
    outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    outcome.cpu_seconds = cpu_seconds() - cpu;
    return outcome;
  }

  /// Returns whether a resumed run need not repeat the job. A fit that is stopped before it has parameters
  /// throws as well: that is no failure. What is invalid is found out again at once.
  bool is_final(const JobOutcome<std::any>& outcome, Callback* callback) const {
    if (outcome.result) return work_.whole(*outcome.result);
    return is_numerical(outcome.thrown) && !(callback != nullptr && callback->stop());
  }

  void tell(const std::string& note) {
    if (plan_.callback == nullptr || note.empty()) return;
    if (!within_job || !parallel_) return plan_.callback->note(note);
    const std::scoped_lock held(lock_);
    news_.notes.push_back(note);
  }

  const JobPlan plan_;
  const JobWork<std::any> work_;
  JobFiles files_;
  JobRanks* const ranks_;  // of this series; nullptr: this process alone
  const int here_;         // workers of this process
  int workers_;
  bool parallel_ = false;  // workers run
  JobDeadline deadline_;
  std::optional<ThreadScope> one_thread_;  // while workers compute beside each other

  mutable std::mutex lock_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::pair<size_t, JobDeadline>> queue_;
  std::optional<std::pair<size_t, JobDeadline>> wanted_;
  std::map<size_t, JobOutcome<std::any>> outcomes_;
  std::set<size_t> begun_;      // by a worker
  std::set<size_t> elsewhere_;  // by another rank
  std::map<size_t, JobDropped> running_;
  std::vector<std::pair<size_t, size_t>> dropped_;  // ranges of jobs; the caller's thread alone
  JobNews news_;
  JobSignals signals_;
  bool quit_ = false;
  std::vector<size_t> shown_;  // the caller's thread alone
  std::vector<std::thread> threads_;
};

JobQueue::JobQueue(JobPlan plan, JobWork<std::any> work)
    : impl_(std::make_unique<Impl>(std::move(plan), std::move(work))) {}

JobQueue::~JobQueue() = default;

void JobQueue::begin() { impl_->begin(); }

void JobQueue::begin_after(const std::any& first) { impl_->begin_after(first); }

void JobQueue::ahead(const std::vector<std::pair<size_t, JobDeadline>>& order) { impl_->ahead(order); }

void JobQueue::drop(size_t first, size_t end) { impl_->drop(first, end); }

JobOutcome<std::any> JobQueue::take(size_t job, JobDeadline until) { return impl_->take(job, until); }

bool JobQueue::has(size_t job) const { return impl_->has(job); }

CheckpointPolicy JobQueue::part(size_t job) const { return impl_->part(job); }

int JobQueue::workers() const { return impl_->workers(); }

}  // namespace slimbayes
