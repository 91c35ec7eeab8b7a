#include "slimbayes/storage/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST_F(memory, bytes_have_units) {
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KB");
  EXPECT_EQ(bytes_text(uint64_t{20} << 20), "20 MB");
  EXPECT_EQ(bytes_text(uint64_t{3} << 30), "3.0 GB");
}

}  // namespace
}  // namespace slimbayes
