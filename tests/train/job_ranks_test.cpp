// Jobs of a series on several ranks (train/job_ranks.h), each a thread here.
#include "slimbayes/train/job_ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/failure.h"
#include "tests/train/squares.h"
#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

using namespace std::chrono_literals;

const std::string kServed = "rank 0 has no more jobs";

struct Watcher : Callback {
  std::vector<std::string> notes;
  std::atomic<bool> stops = false;
  bool followed = false;
  void note(const std::string& sentence) override { notes.push_back(sentence); }
  bool stop() override { return stops; }
  void follow(Stopped why) override { stops = followed = why == Stopped::interrupted; }
};

class JobRanksTest : public JobsTest {
 protected:
  /// Runs `caller` on rank 0 with the jobs of `squares`, which the other ranks serve. `kinds` are those of
  /// the series by rank. Returns what the ranks threw.
  std::vector<std::string> run(int64_t size, Squares& squares,
                               const std::function<void(Jobs<int>&, Watcher&)>& caller, bool resume = false,
                               const std::vector<std::string>& kinds = {}) {
    return run_ranks(size, [&](const Collective& ranks) {
      JobRanks job_ranks(ranks);
      Watcher told;
      JobPlan own = plan(resume, 1, &told);
      if (ranks.rank() > 0) own.checkpoint = {};
      if (!kinds.empty()) own.kind = kinds.at(static_cast<size_t>(ranks.rank()));
      own.job_ranks = &job_ranks;
      Jobs<int> jobs(own, squares.work());
      jobs.begin();
      caller(jobs, told);
    });
  }
};

TEST_F(JobRanksTest, RunJobsBesideEachOther) {
  std::atomic<int> running = 0, most = 0;
  Squares squares;
  squares.first = [&](size_t, const JobContext& context) {
    EXPECT_EQ(context.beside, 3);
    const int now = ++running;
    for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
    EXPECT_EQ(context.workers, 1);
    for (int i = 0; i < 5000 && most < 3; ++i) std::this_thread::sleep_for(1ms);  // until three have met
    --running;
  };
  const auto thrown = run(3, squares, [](Jobs<int>& jobs, Watcher&) {
    EXPECT_EQ(jobs.workers(), 3);
    jobs.ahead(0, 7);
    for (size_t job : {6, 0, 1, 2, 3, 4, 5}) EXPECT_EQ(jobs.take(job).value(), static_cast<int>(job * job));
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", kServed, kServed}));
  EXPECT_EQ(most, 3);
  for (const auto& [job, runs] : squares.runs) EXPECT_EQ(runs, 1) << job;
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.0", "m.ckpt.1", "m.ckpt.2", "m.ckpt.3", "m.ckpt.4", "m.ckpt.5",
                            "m.ckpt.6"}));  // rank 0 keeps the results of all
}

TEST_F(JobRanksTest, AResumedSeriesRunsOnlyWhatIsNotFinished) {
  Squares squares;
  run(2, squares, [](Jobs<int>& jobs, Watcher&) {
    jobs.ahead(0, 3);
    for (size_t job = 0; job < 3; ++job) jobs.take(job);
  });
  EXPECT_EQ(std::ssize(squares.runs), 3);
  for (const int64_t size : {1, 3}) {  // also with another number of ranks
    const auto thrown = run(
        size, squares,
        [](Jobs<int>& jobs, Watcher&) {
          jobs.ahead(0, 5);
          for (size_t job = 0; job < 5; ++job) EXPECT_EQ(jobs.take(job).value(), static_cast<int>(job * job));
        },
        true);
    EXPECT_EQ(thrown[0], "");
  }
  for (const auto& [job, runs] : squares.runs) EXPECT_EQ(runs, 1) << job;
}

TEST_F(JobRanksTest, FailuresKeepTheirKindAndNotesArrive) {
  Squares squares;
  const std::thread::id here = std::this_thread::get_id();
  squares.first = [&](size_t job, const JobContext& context) {
    EXPECT_NE(std::this_thread::get_id(), here);
    context.callback->note("note of " + std::to_string(job));
    if (job == 1) throw NumericalError("no pivot");
    if (job == 2) throw std::bad_alloc();
    if (job == 3) throw std::runtime_error("broken");
    if (job == 4) throw std::invalid_argument("no such rank");
    std::this_thread::sleep_for(30ms);
  };
  const auto thrown = run(4, squares, [](Jobs<int>& jobs, Watcher& told) {
    jobs.ahead(0, 12);
    EXPECT_THROW(jobs.take(1).value(), NumericalError);
    EXPECT_EQ(failure_of(jobs.take(4).thrown), "no such rank");
    EXPECT_EQ(failure_of(jobs.take(2).thrown), "out of memory");
    EXPECT_FALSE(failure_of(jobs.take(3).thrown));
    for (size_t job : {0, 5, 6, 7, 8, 9, 10, 11})
      EXPECT_EQ(jobs.take(job).value(), static_cast<int>(job * job));
    std::ranges::sort(told.notes);
    EXPECT_EQ(told.notes.size(), 12u);
    EXPECT_EQ(told.notes[1], "note of 1");
  });
  EXPECT_EQ(thrown[0], "");
}

// A stop and the deadlines of rank 0 reach the jobs of the other ranks.
TEST_F(JobRanksTest, TellJobsToStop) {
  for (const bool by_time : {false, true}) {
    Squares squares;
    std::atomic<int> ended = 0;
    squares.first = [&](size_t, const JobContext& context) {
      const auto asked = [&] { return context.callback->stop() || context.callback->late(); };
      for (int i = 0; i < 20000 && !asked() && seconds_until(context.until) > 0; ++i)
        std::this_thread::sleep_for(1ms);
      ++ended;
    };
    const auto begin = std::chrono::steady_clock::now();
    const auto thrown = run(3, squares, [&](Jobs<int>& jobs, Watcher& told) {
      const JobDeadline until = by_time ? JobDeadline(begin + 300ms) : JobDeadline();
      jobs.ahead(0, 3, until);
      std::thread user([&] {
        std::this_thread::sleep_for(300ms);
        if (!by_time) told.stops = true;
      });
      for (size_t job = 0; job < 3; ++job) jobs.take(job, until);
      user.join();
    });
    EXPECT_EQ(thrown, (std::vector<std::string>{"", kServed, kServed}));
    EXPECT_EQ(ended, 3);
    EXPECT_LT(seconds_until(begin) * -1, 15);
  }
}

TEST_F(JobRanksTest, AnInterruptOfAnotherRankStopsTheCaller) {
  Squares squares;
  squares.first = [](size_t, const JobContext& context) {
    for (int i = 0; i < 20000 && !context.callback->stop(); ++i) std::this_thread::sleep_for(1ms);
  };
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    JobRanks job_ranks(ranks);
    Watcher told;
    told.stops = ranks.rank() == 1;
    JobPlan own{{}, "toy", &told, 1};
    own.job_ranks = &job_ranks;
    Jobs<int> jobs(own, squares.work());
    jobs.begin();
    jobs.ahead(0, 2);
    jobs.take(0);
    jobs.take(1);
    EXPECT_TRUE(told.followed);
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", kServed}));
}

TEST_F(JobRanksTest, ARankThatEndsEndsTheSeries) {
  Squares squares;
  squares.first = [](size_t, const JobContext& context) {
    for (int i = 0; i < 20000 && !context.callback->stop(); ++i) std::this_thread::sleep_for(1ms);
  };
  const auto thrown = run_ranks(3, [&](const Collective& ranks) {
    JobRanks job_ranks(ranks);
    if (ranks.rank() == 2) {  // comes, and is killed
      job_ranks.claim("toy");
      throw std::runtime_error("killed");
    }
    JobPlan own{{}, "toy", nullptr, 1};
    own.job_ranks = &job_ranks;
    Jobs<int> jobs(own, squares.work());
    jobs.begin();
    jobs.ahead(0, 3);
    for (size_t job = 0; job < 3; ++job) jobs.take(job).value();
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"[ranks] another rank has left",
                                              "[ranks] another rank has left", "killed"}));
}

// Only the first series has the ranks, and only if the others have come to the same one.
TEST_F(JobRanksTest, AreClaimedOnceAndForOneKind) {
  Squares squares;
  auto thrown = run(2, squares, [](Jobs<int>& jobs, Watcher&) {
    EXPECT_EQ(jobs.workers(), 2);
    EXPECT_EQ(jobs.take(1).value(), 1);
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", kServed}));
  thrown = run(2, squares,
               [](Jobs<int>& jobs, Watcher&) {
                 EXPECT_EQ(jobs.workers(), 1);
                 EXPECT_EQ(jobs.take(2).value(), 4);
               },
               false, {"toy", "other"});
  EXPECT_EQ(thrown, (std::vector<std::string>{"", "rank 0 has no jobs of this kind"}));
  thrown = run_ranks(2, [&](const Collective& ranks) {
    JobRanks job_ranks(ranks);
    if (ranks.rank() == 0) return;  // a fit without a series
    EXPECT_FALSE(job_ranks.claim("toy"));
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", "rank 0 has no jobs of this kind"}));
  thrown = run_ranks(2, [&](const Collective& ranks) {
    JobRanks job_ranks(ranks);
    if (ranks.rank() > 0) {
      job_ranks.claim("first");
      job_ranks.serve([](size_t, Callback&, JobDeadline) { return TensorFile{}; }, nullptr);
      return;
    }
    EXPECT_TRUE(job_ranks.claim("first"));
    EXPECT_FALSE(job_ranks.claim("second"));
  });
  EXPECT_EQ(thrown, std::vector<std::string>(2, ""));
}

}  // namespace
}  // namespace slimbayes
