// Whole files, or nothing.
//
// rename() within a folder is atomic: whoever opens the path sees the old content or the new. The data must
// be on the disk before the name points at it (fsync of the file), and the name must outlive a power cut
// (fsync of the folder). The temporary lies in the same folder, under a name of process and count that is
// created exclusively, so that neither two writers nor a leftover of a killed one can meet in it.

#include "slimbayes/storage/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& action, int error) {
  std::string hint;
  if (error == ENOENT) hint = "; check the path";
  if (error == EACCES || error == EPERM || error == EROFS) hint = "; choose a place you may write and read";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) hint = "; free some space or choose another disk";
  throw DataError(path.string(), fmt::format("cannot {}: {}{}", action, std::strerror(error), hint));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int close() { return ::close(std::exchange(value_, -1)); }

 private:
  int value_;
};

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

// A new file beside the target; removed unless it was renamed.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) : target_(target), descriptor_(open_beside(target)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(target_, "write", errno);
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    if (::fsync(descriptor_.get()) != 0) fail(target_, "write", errno);
    if (descriptor_.close() != 0) fail(target_, "write", errno);
  }

  void rename_to_target() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "write", errno);
    path_.clear();
  }

 private:
  Descriptor open_beside(const fs::path& target) {
    static std::atomic<unsigned> count{0};
    for (;;) {
      path_ = folder_of(target) / fmt::format(".slimbayes-{}-{}.tmp", ::getpid(), count++);
      const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (descriptor >= 0) return Descriptor(descriptor);
      if (errno == EEXIST || errno == EINTR) continue;
      const int error = errno;
      path_.clear();
      fail(target, fmt::format("write in the folder '{}'", folder_of(target).string()), error);
    }
  }

  fs::path target_;
  fs::path path_;
  Descriptor descriptor_;
};

// Where the bytes go: the end of a chain of links. Refuses what a rename must not replace.
fs::path resolved(const fs::path& path) {
  if (!path.has_filename())
    throw DataError(path.string(), "expected the name of a file; received a folder or nothing");
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return path;
    fail(path, "write", errno);
  }
  if (S_ISDIR(info.st_mode)) throw DataError(path.string(), "expected the name of a file; received a folder");
  if (!S_ISREG(info.st_mode)) {
    throw DataError(path.string(), "expected a regular file; received a device, pipe or socket");
  }
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error) fail(path, "write", error.value());
  return target;
}

void sync_folder(const fs::path& target) {
  const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that may be written but not read cannot be synced, nor can some network file systems.
  if (folder.get() < 0) return;
  if (::fsync(folder.get()) != 0 && errno == EIO) fail(target, "write", errno);
}

}  // namespace

void write_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path target = resolved(path);
  Temporary temporary(target);
  temporary.write(bytes);
  temporary.rename_to_target();
  sync_folder(target);
}

void check_writable(const fs::path& path) { Temporary probe(resolved(path)); }

std::vector<std::byte> read_bytes(const fs::path& path) {
  // Without O_NONBLOCK a pipe would block before it can be refused.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail(path, "open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail(path, "read", errno);
  if (S_ISDIR(info.st_mode)) throw DataError(path.string(), "expected a file; received a folder");
  if (!S_ISREG(info.st_mode)) {
    throw DataError(path.string(), "expected a regular file; received a device, pipe or socket");
  }
  // A sparse file may claim any size, and the kernel may promise memory that it does not have.
  const auto size = static_cast<uint64_t>(info.st_size);
  const auto memory =
      static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (size > memory) {
    throw DataError(path.string(),
                    fmt::format("expected a file that fits in memory; received {} bytes", size));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace slimbayes
