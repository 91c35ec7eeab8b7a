#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace slimbayes {
namespace {

TEST(LibraryThreads, RunEveryJobOnceOnAllThreads) {
  const ThreadScope two(2);
  std::mutex mutex;
  std::vector<int64_t> ran;
  std::set<std::thread::id> threads;
  on_library_threads(8, [&](int64_t job) {
    const std::scoped_lock lock(mutex);
    ran.push_back(job);
    threads.insert(std::this_thread::get_id());
  });
  std::ranges::sort(ran);
  EXPECT_EQ(ran, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(threads.size(), 2);
}

TEST(LibraryThreads, CutARangeIntoParts) {
  const ThreadScope two(2);
  for (const int64_t n : {0, 1, 4, 5, 23}) {
    std::vector<int> times(static_cast<size_t>(n));
    over_range(n, 4, [&](int64_t first, int64_t last) {
      EXPECT_LE(last - first, 4);
      for (int64_t i = first; i < last; ++i) ++times[static_cast<size_t>(i)];
    });
    EXPECT_EQ(times, std::vector<int>(static_cast<size_t>(n), 1));
  }
}

TEST(LibraryThreads, PassOnWhatAJobThrows) {
  const ThreadScope two(2);
  const auto bad = [](int64_t job) {
    if (job == 5) throw std::runtime_error("job 5");
  };
  EXPECT_THROW(on_library_threads(8, bad), std::runtime_error);
  EXPECT_NO_THROW(on_library_threads(5, bad));
}

TEST(ThreadScope, GivesTheEarlierNumberBack) {
  const int before = at::get_num_threads();
  {
    const ThreadScope outer(3);
    EXPECT_EQ(at::get_num_threads(), 3);
    {
      const ThreadScope inner(1);
      EXPECT_EQ(at::get_num_threads(), 1);
    }
    EXPECT_EQ(at::get_num_threads(), 3);
    const ThreadScope none(0);
    EXPECT_EQ(at::get_num_threads(), 3);
  }
  EXPECT_EQ(at::get_num_threads(), before);
  const auto fails = [] {
    const ThreadScope scope(2);
    throw std::runtime_error("");
  };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(ThreadScope, RefusesMoreThanTheDescriptionAllows) {
  for (const int threads : {-2, -1, 4097, 20000, 100000, std::numeric_limits<int>::max()})
    EXPECT_THROW(ThreadScope{threads}, std::invalid_argument) << threads;
}

// Root is exempt from the limit, so the child becomes another user, nobody.
TEST(ThreadScope, RefusesMoreThanTheUserMayHave) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{20, 20};
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) ::_exit(3);
    try {
      const ThreadScope scope(64);
    } catch (const std::invalid_argument& error) {
      const std::string said = error.what();
      ::_exit(said.find("threads, which the limits") != said.npos &&
                      said.find("received 64; lower `.threads`") != said.npos
                  ? 0
                  : 4);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace slimbayes
