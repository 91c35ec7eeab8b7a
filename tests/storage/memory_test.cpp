#include "slimbayes/storage/memory.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

/// A folder that imitates Linux's files of memory and control groups.
struct memory : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("slimbayes_memory_" + std::to_string(getpid()));

  memory() { write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n"); }
  ~memory() override { fs::remove_all(root); }

  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
};

TEST_F(memory, is_the_least_that_any_limit_leaves) {
  EXPECT_EQ(memory_at_hand(root), 8000u * 1024);
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "5000\n");
  EXPECT_EQ(memory_at_hand(root), 8000u * 1024);
  write("sys/fs/cgroup/a/memory.max", "1000000\n");
  write("sys/fs/cgroup/a/memory.current", "700000\n");
  EXPECT_EQ(memory_at_hand(root), 300'000u);
  write("sys/fs/cgroup/a/memory.stat", "anon 100000\nfile 600000\n");
  EXPECT_EQ(memory_at_hand(root), 900'000u);
  write("sys/fs/cgroup/a/b/memory.max", "4000\n");
  EXPECT_EQ(memory_at_hand(root), 0u);
}

TEST_F(memory, threads_are_those_that_a_group_leaves) {
  write("proc/self/cgroup", "0::/a/b\n");
  fs::create_directories(root / "proc/self/task/7");
  const uint64_t before = threads_at_hand(root);
  write("sys/fs/cgroup/a/b/pids.max", "max\n");
  write("sys/fs/cgroup/a/b/pids.current", "50\n");
  EXPECT_EQ(threads_at_hand(root), before);
  write("sys/fs/cgroup/a/pids.max", "60\n");
  write("sys/fs/cgroup/a/pids.current", "53\n");
  EXPECT_EQ(threads_at_hand(root), 7u + 1);
  write("sys/fs/cgroup/a/pids.current", "61\n");
  EXPECT_EQ(threads_at_hand(root), 1u);
}

// Root is exempt from the limit, so the child becomes another user, nobody.
TEST(threads_at_hand, is_how_many_the_limit_of_the_user_lets_begin) {
  const pid_t child = ::fork();
  if (child == 0) {
    const uint64_t unbound = threads_at_hand();
    if (::getuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    struct rlimit limit {};
    ::getrlimit(RLIMIT_NPROC, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 400);
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) ::_exit(3);
    const uint64_t most = threads_at_hand();
    uint64_t begun = 1;
    pthread_t thread;
    while (begun < 500 &&
           ::pthread_create(
               &thread, nullptr, [](void*) -> void* { return ::pause(), nullptr; }, nullptr) == 0)
      ++begun;
    ::_exit(most < unbound && begun == most ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(memory, bytes_have_units) {
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KB");
  EXPECT_EQ(bytes_text(uint64_t{20} << 20), "20 MB");
  EXPECT_EQ(bytes_text(uint64_t{3} << 30), "3.0 GB");
}

}  // namespace
}  // namespace slimbayes
