#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <stdexcept>
#include <string>

namespace slimbayes {
namespace {

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
