#include "slimbayes/train/jobs.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/failure.h"
#include "tests/train/squares.h"

namespace slimbayes {
namespace {

using namespace std::chrono_literals;

TEST_F(JobsTest, AFailureIsKeptAndIsOneAgain) {
  for (int workers : {1, 2}) {
    Squares squares;
    squares.first = [](size_t job, const JobContext&) {
      if (job == 1) throw NumericalError("no pivot");
      if (job == 2) throw std::bad_alloc();
      if (job == 3) throw DataError("a file", "broken");
      if (job == 4) throw std::invalid_argument("no such rank");
    };
    for (bool resume : {false, true}) {
      Jobs<int> jobs(plan(resume, workers), squares.work());
      jobs.begin();
      jobs.ahead(0, 5);
      EXPECT_EQ(jobs.take(0).value(), 0);
      EXPECT_THROW(jobs.take(1).value(), NumericalError);
      EXPECT_EQ(failure_of(jobs.take(4).thrown), "no such rank");
      EXPECT_EQ(failure_of(jobs.take(2).thrown), "out of memory");
      EXPECT_FALSE(failure_of(jobs.take(3).thrown));
    }
    EXPECT_EQ(squares.runs, (std::map<size_t, int>{{0, 1}, {1, 1}, {2, 2}, {3, 2}, {4, 2}}));
  }
}

TEST_F(JobsTest, WorkersRunBesideEachOtherWithOneThreadEach) {
  std::atomic<int> running = 0, most = 0;
  std::atomic<bool> one_thread = true;
  Squares squares;
  squares.first = [&](size_t, const JobContext&) {
    const int now = ++running;
    for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
    one_thread = one_thread && at::get_num_threads() == 1;
    for (int i = 0; i < 2000 && most < 3; ++i) std::this_thread::sleep_for(1ms);  // until three have met
    --running;
  };
  const int threads = at::get_num_threads();
  {
    Jobs<int> jobs(plan(false, 3), squares.work());
    EXPECT_EQ(jobs.workers(), 3);
    jobs.begin();
    jobs.ahead(0, 6);
    for (size_t job : {5, 0, 1, 2, 3, 4}) EXPECT_EQ(jobs.take(job).value(), static_cast<int>(job * job));
  }
  EXPECT_EQ(most, 3);
  EXPECT_TRUE(one_thread);
  EXPECT_EQ(at::get_num_threads(), threads);
}

// Jobs within a job run one after another, on its thread.
TEST_F(JobsTest, JobsOfAJobHaveNoWorkers) {
  std::atomic<bool> alone = true;
  Squares squares;
  squares.first = [&](size_t, const JobContext& context) {
    Squares inner;
    Jobs<int> own({context.checkpoint, "inner", context.callback, 4}, inner.work());
    own.begin();
    own.ahead(0, 3);
    const auto here = std::this_thread::get_id();
    inner.first = [&alone, here](size_t, const JobContext&) {
      if (std::this_thread::get_id() != here) alone = false;
    };
    if (own.workers() != 1) alone = false;
    for (size_t i = 0; i < 3; ++i) own.take(i);
  };
  Jobs<int> jobs(plan(false, 2), squares.work());
  jobs.begin();
  jobs.ahead(0, 1);  // a single job needs no workers
  jobs.ahead({{0, {}}, {7, {}}});
  jobs.take(0);
  EXPECT_TRUE(alone);
}

/// Counts what it is told; all calls must come from the thread that made it.
class Told : public Callback {
 public:
  void stage(const std::string& name) override { here(), stages.push_back(name); }
  void note(const std::string& sentence) override { here(), notes.push_back(sentence); }
  void report(const Progress& p) override { here(), steps.insert(p.step); }
  bool stop() override { return here(), stops; }
  void here() const { EXPECT_EQ(std::this_thread::get_id(), made_); }

  Names stages, notes;
  std::set<int64_t> steps;
  std::atomic<bool> stops = false;

 private:
  std::thread::id made_ = std::this_thread::get_id();
};

TEST_F(JobsTest, OnlyTheCallersThreadCallsItsCallback) {
  for (int workers : {1, 3}) {
    Told told;
    Squares squares;
    std::atomic<int> begun = 0;
    squares.first = [&](size_t job, const JobContext& context) {
      ++begun;
      for (int i = 0; i < 5000 && begun < workers; ++i) std::this_thread::sleep_for(1ms);
      Progress progress{};
      progress.step = static_cast<int64_t>(job) + 1;
      context.callback->report(progress);
      context.callback->note("job " + std::to_string(job));
      EXPECT_FALSE(context.callback->stop());
      std::this_thread::sleep_for(120ms);  // the caller looks every 50 ms
    };
    Jobs<int> jobs(plan(false, workers, &told), squares.work());
    jobs.begin();
    jobs.ahead(0, 3);
    for (size_t job = 0; job < 3; ++job) jobs.take(job);
    std::ranges::sort(told.notes);
    EXPECT_EQ(told.notes, (Names{"job 0", "job 1", "job 2"}));
    EXPECT_FALSE(told.steps.empty());
    if (workers == 1) {
      EXPECT_EQ(told.stages, (Names{"1", "2", "3"}));
    } else {
      EXPECT_NE(std::ranges::find(told.stages, "1, 2, 3"), told.stages.end());
    }
  }
}

TEST_F(JobsTest, AJobThatIsDroppedEndsAndLeavesNothing) {
  Told told;
  Squares squares;
  std::atomic<int> begun = 0, told_to_stop = 0;
  squares.first = [&](size_t job, const JobContext& context) {
    if (job == 0) return;
    ++begun;
    for (int i = 0; i < 5000 && !context.callback->stop(); ++i) std::this_thread::sleep_for(1ms);
    told_to_stop += context.callback->stop() ? 1 : 0;
    context.callback->note("too late");
    throw NumericalError("stopped before there was a result");
  };
  Jobs<int> jobs(plan(false, 2, &told), squares.work());
  jobs.begin();
  jobs.ahead(1, 5);  // both workers begin, two jobs wait
  for (int i = 0; i < 5000 && begun < 2; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(jobs.has(1));
  jobs.drop(1, 5);
  EXPECT_FALSE(jobs.has(1));
  EXPECT_EQ(jobs.take(0).value(), 0);  // a worker is free for it
  for (int i = 0; i < 5000 && told_to_stop < 2; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(begun, 2);  // those that waited do not begin
  EXPECT_EQ(told_to_stop, 2);
  EXPECT_EQ(told.notes, Names{});
  EXPECT_FALSE(jobs.has(3));
  EXPECT_THROW(jobs.take(3), std::logic_error);
}

// After a stop what runs ends, what is finished is kept, and nothing new begins but what the caller asks for.
TEST_F(JobsTest, AStopEndsWhatRuns) {
  Told told;
  Squares squares;
  squares.first = [&](size_t job, const JobContext& context) {
    if (job == 0) return;
    if (job == 1) told.stops = true;
    while (!context.callback->stop()) std::this_thread::sleep_for(1ms);
    throw NumericalError("stopped before it had parameters");
  };
  {
    Jobs<int> jobs(plan(false, 2, &told), squares.work());
    jobs.begin();
    jobs.ahead(0, 9);
    EXPECT_EQ(jobs.take(0).value(), 0);
    EXPECT_THROW(jobs.take(1).value(), NumericalError);
  }
  EXPECT_FALSE(squares.runs.contains(8));
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.0"}));  // the stopped jobs have not failed
}

// Whatever job a worker holds when the process ends: the results are the same with other workers.
TEST_F(JobsTest, TheSameResultsWhereverARunEnds) {
  for (size_t last = 0; last < 6; ++last) {
    Squares squares;
    {
      Jobs<int> jobs(plan(false, 1 + static_cast<int>(last) % 3), squares.work());
      jobs.begin();
      jobs.ahead(0, 6);
      for (size_t job = 0; job < last; ++job) jobs.take(job);
    }
    Jobs<int> jobs(plan(true, 3 - static_cast<int>(last) % 3), squares.work());
    jobs.begin();
    jobs.ahead(0, 6);
    for (size_t job = 0; job < 6; ++job) EXPECT_EQ(jobs.take(job).value(), static_cast<int>(job * job));
    for (const auto& [job, runs] : squares.runs) EXPECT_EQ(runs, 1) << job;
  }
}

TEST(TimeShares, JobsBesideEachOtherShareTheirTime) {
  EXPECT_EQ(time_shares(5, 1), 5U);
  EXPECT_EQ(time_shares(5, 2), 3U);
  EXPECT_EQ(time_shares(5, 8), 1U);
  EXPECT_EQ(time_shares(0, 2), 1U);
}

}  // namespace
}  // namespace slimbayes
