// Writes a file completely or not at all.
//
// The content is written to a temporary file in the same folder, which is then renamed to the target.
// rename() within a folder is atomic: a reader that opens the path sees the old content or the new. The file
// is synced (fsync) before the rename, so that the name never points at data that are not on the disk. The
// folder is synced after the rename, so that the new name survives a power cut. The name of the temporary
// file contains the process id and a counter, and the file is created exclusively (O_EXCL), so that two
// writers never share a file and no writer reuses a file that a killed writer left. The writer holds a lock
// (flock) on the file, which the kernel releases when the process ends. So a temporary file without a lock is
// left from a killed writer and can be removed. The process id in its name cannot show this, because another
// machine or container may write in the same folder.

#include "slimbayes/storage/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& action, int error) {
  std::string hint;
  if (error == ENOENT) hint = "; check the path";
  if (error == EACCES || error == EPERM || error == EROFS) hint = "; choose a place you may write and read";
  if (error == ENOSPC || error == EDQUOT) hint = "; free some space or choose another disk";
  if (error == EFBIG) hint = "; raise the limit on a file's size (ulimit -f)";
  if (error == ENAMETOOLONG) hint = "; choose a shorter name";
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

constexpr const char* kPrefix = ".slimbayes-";
constexpr const char* kSuffix = ".tmp";

// Gives the new file, open as `descriptor`, the mode, group and owner of the file `target` that it will
// replace, if there is one.
void keep_owner_and_mode(const fs::path& target, int descriptor) {
  struct stat old {
  }, own{};
  if (::stat(target.c_str(), &old) != 0 || ::fstat(descriptor, &own) != 0) return;
  mode_t mode = old.st_mode & 0777;
  if (own.st_gid != old.st_gid && ::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode &= ~static_cast<mode_t>(070);  // another group must not get the rights of the old one
  // Failures are ignored. Some file systems have no modes; there the file keeps the mode it was created with.
  // Only root may change the owner of a file; other users become the owner of the new file.
  if (::fchmod(descriptor, mode) != 0) errno = 0;
  if (own.st_uid != old.st_uid && ::fchown(descriptor, old.st_uid, static_cast<gid_t>(-1)) != 0) errno = 0;
}

// A new, locked temporary file in the folder of the target. The destructor removes it unless
// rename_to_target() has made it the target.
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
    keep_owner_and_mode(target_, descriptor_.get());
    if (::fsync(descriptor_.get()) != 0) fail(target_, "write", errno);
  }

  void rename_to_target() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "write", errno);
    path_.clear();
    if (descriptor_.close() != 0) fail(target_, "write", errno);
  }

 private:
  Descriptor open_beside(const fs::path& target) {
    static std::atomic<unsigned> count{0};
    struct stat old {};
    // If there is a file to replace, only the owner may read the temporary file until write() gives it the
    // old file's mode: the old file may be private.
    const mode_t mode = ::stat(target.c_str(), &old) == 0 ? 0600 : 0644;
    for (;;) {
      path_ = folder_of(target) / fmt::format("{}{}-{}{}", kPrefix, ::getpid(), count++, kSuffix);
      Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
      if (file.get() >= 0) {
        while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) continue;
        struct stat info {};
        if (::fstat(file.get(), &info) != 0 || info.st_nlink > 0) return file;
        continue;  // another process's remove_leftovers removed it before it was locked
      }
      if (errno == EEXIST || errno == EINTR) continue;
      const int error = errno;
      path_.clear();
      fail(target, fmt::format("write in the folder '{}'", foreign_text(folder_of(target).string())), error);
    }
  }

  fs::path target_;
  fs::path path_;
  Descriptor descriptor_;
};

// Removes the temporary files in `folder` whose writers were killed, which are those without a lock.
void remove_leftovers(const fs::path& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const Descriptor file(::open(at->path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
  }
}

// Throws DataError if `target` is read-only for everybody. The kernel would not protect such a file: the
// permissions of its folder alone decide whether rename() may replace it. `path` is the name that the user
// gave, for the message.
void check_not_protected(const fs::path& path, const fs::path& target) {
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0 || (old.st_mode & 0222) != 0) return;
  throw DataError(path.string(),
                  "expected a new file or one that may be written; received one that is read-only for "
                  "everybody; name another file, or run chmod u+w");
}

// In a folder such as /tmp (with the sticky bit) everybody may create files, and nobody may replace or remove
// those of others but the folder's owner.
struct SharedEntry {
  bool exists = false;  // in such a folder
  uid_t owner = 0, folder_owner = 0;
};

SharedEntry shared_entry(const fs::path& at) {
  struct stat info {
  }, folder{};
  if (::lstat(at.c_str(), &info) != 0 || ::stat(folder_of(at).c_str(), &folder) != 0) return {};
  return {(folder.st_mode & S_ISVTX) != 0, info.st_uid, folder.st_uid};
}

// Another user could choose by a link which file this one overwrites. Most kernels follow such a link only if
// fs.protected_symlinks is off.
void check_own_link(const fs::path& path, const fs::path& link) {
  const SharedEntry entry = shared_entry(link);
  if (!entry.exists || entry.owner == ::geteuid() || entry.owner == entry.folder_owner) return;
  throw DataError(path.string(),
                  "expected a link of your own in a folder where everybody may create files; received "
                  "another user's; name the file itself");
}

// The kernel would refuse the rename, after all work.
void check_replaceable(const fs::path& target) {
  const SharedEntry entry = shared_entry(target);
  const uid_t user = ::geteuid();
  if (entry.exists && user != 0 && user != entry.owner && user != entry.folder_owner)
    fail(target, "write", EPERM);
}

void sync_folder(const fs::path& target) {
  const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that this process may write but not read cannot be opened to sync it, and some network file
  // systems cannot sync folders. Neither is an error, since the file itself is written.
  if (folder.get() < 0) return;
  if (::fsync(folder.get()) != 0 && errno == EIO) fail(target, "write", errno);
}

}  // namespace

fs::path written_file(const fs::path& path) {
  if (!path.has_filename())
    throw DataError(path.string(), "expected the name of a file; received a folder or nothing");
  // The kernel follows the links first: it refuses loops.
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) fail(path, "write", errno);
  if (exists && S_ISDIR(info.st_mode))
    throw DataError(path.string(), "expected the name of a file; received a folder");
  if (exists && !S_ISREG(info.st_mode))
    throw DataError(path.string(), "expected a regular file; received a device, pipe or socket");
  fs::path at = path;
  std::error_code error;
  while (fs::is_symlink(at, error)) {
    check_own_link(path, at);
    const fs::path next = fs::read_symlink(at, error);
    if (error) fail(path, "write", error.value());
    at = folder_of(at) / next;  // an absolute `next` replaces the folder
  }
  return at;
}

void remove_file(const fs::path& path) { ::unlink(path.c_str()); }

void write_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path target = written_file(path);
  check_not_protected(path, target);
  Temporary temporary(target);
  temporary.write(bytes);
  temporary.rename_to_target();
  sync_folder(target);
}

void check_writable(const fs::path& path) {
  const fs::path target = written_file(path);
  check_not_protected(path, target);
  check_replaceable(target);
  remove_leftovers(folder_of(target));
  const Temporary probe(target);
}

std::vector<std::byte> read_bytes(const fs::path& path, uint64_t most) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer, so that the pipe could not be refused.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail(path, "open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail(path, "read", errno);
  if (S_ISDIR(info.st_mode)) throw DataError(path.string(), "expected a file; received a folder");
  if (!S_ISREG(info.st_mode)) {
    throw DataError(path.string(), "expected a regular file; received a device, pipe or socket");
  }
  // The size is checked before memory is allocated: a sparse file may have any size, and the kernel may
  // promise memory that it does not have.
  const auto size = std::min(static_cast<uint64_t>(info.st_size), most);
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
