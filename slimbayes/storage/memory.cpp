// Reads from files in /proc and /sys how much memory and how many threads Linux can still give to this
// process. A file that is absent or has an unexpected format sets no limit; so systems other than Linux have
// none of these limits.
// The page cache counts as free, because the kernel gives it up when a process needs memory.
#include "slimbayes/storage/memory.h"

#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

/// Returns the number that follows the word `key` in a file, or, if `key` is empty, the number at the start
/// of the file. Returns nullopt if there is no such number.
std::optional<uint64_t> number_in(const fs::path& path, std::string_view key = "") {
  std::ifstream in(path);
  for (std::string word; key.empty() || in >> word;) {
    uint64_t number = 0;
    if (!key.empty() && word != key) continue;
    if (in >> number) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

/// Returns how many more bytes (`what` is "memory") or threads ("pids") the limits of this process's control
/// group and of its parents allow; kUnknown without a limit. The file proc/self/cgroup names the group in a
/// line "0::/path" (cgroups, version 2).
uint64_t left_in_groups(const fs::path& root, const std::string& what) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream in(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(in, line) && !line.starts_with("0::")) continue;
  if (!in) return kUnknown;
  uint64_t least = kUnknown;
  for (fs::path place = fs::path(line.substr(3)).relative_path();; place = place.parent_path()) {
    const fs::path folder = mount / place;
    const auto limit = number_in(folder / (what + ".max")), used = number_in(folder / (what + ".current"));
    if (limit && used) {
      const uint64_t cache = number_in(folder / (what + ".stat"), "file").value_or(0);
      const uint64_t taken = *used - std::min(cache, *used);
      least = std::min(least, *limit - std::min(taken, *limit));
    }
    if (place.empty()) return least;
  }
}

/// Returns how many threads the process in this folder of /proc has, if it belongs to user `owner`; else 0.
/// Its folder task has a link for each thread, besides the two of every folder.
uint64_t threads_in(const fs::path& process, uid_t owner) {
  struct stat task {};
  if (::stat((process / "task").c_str(), &task) != 0 || task.st_uid != owner) return 0;
  return task.st_nlink - std::min<uint64_t>(task.st_nlink, 2);
}

/// Returns how many more threads RLIMIT_NPROC allows this process's user; kUnknown without a limit.
uint64_t left_for_user(const fs::path& root) {
  rlimit limit{};
  const uid_t user = ::getuid();
  if (user == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  uint64_t taken = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root / "proc", failed))
    if (std::isdigit(entry.path().filename().string().front())) taken += threads_in(entry.path(), user);
  return limit.rlim_cur - std::min<uint64_t>(taken, limit.rlim_cur);
}

}  // namespace

uint64_t address_space_at_hand(const fs::path& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  const uint64_t pages = number_in(root / "proc/self/statm").value_or(0);
  const uint64_t taken = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<uint64_t>(taken, limit.rlim_cur);
}

uint64_t memory_at_hand(const fs::path& root) {
  const auto available = number_in(root / "proc/meminfo", "MemAvailable:");
  const uint64_t free = available ? *available * 1024 : kUnknown;
  return std::min({free, left_in_groups(root, "memory"), address_space_at_hand(root)});
}

uint64_t threads_at_hand(const fs::path& root) {
  const uint64_t left = std::min(left_in_groups(root, "pids"), left_for_user(root));
  return left == kUnknown ? kUnknown : left + threads_in(root / "proc/self", ::getuid());
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargest = 1 << 25;  // 32 MB: glibc ignores larger values of this limit
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

std::string bytes_text(uint64_t bytes) {
  const auto text = [](double number, const char* unit) {
    return fmt::format("{:.{}f} {}", number, number < 9.95 ? 1 : 0, unit);
  };
  const auto number = static_cast<double>(bytes);
  if (bytes >= uint64_t{1} << 30) return text(number / 0x1p30, "GB");
  if (bytes >= uint64_t{1} << 20) return text(number / 0x1p20, "MB");
  return bytes >= 1024 ? text(number / 1024, "KB") : fmt::format("{} bytes", bytes);
}

}  // namespace slimbayes
