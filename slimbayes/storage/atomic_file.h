#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// Writes `bytes` to a file completely or not at all. It writes a temporary file in the same folder, syncs it
/// (fsync), renames it to `path` and syncs the folder. So a process killed at any moment leaves the old file
/// or the new one. On failure the temporary file is removed. A new file gets mode 0644 less the umask. A file
/// that replaces another gets the other's mode and group, and its owner if the process has the right to
/// change owners. If `path` is a symbolic link, the link stays and the file that it names is replaced
/// (written_file). Throws DataError if the file cannot be written, if it exists and is read-only for
/// everybody (mode 444), or if `path` is a device or a pipe.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Throws DataError if write_atomically(path) could not write the file: the folder is missing, there is no
/// permission, the file is read-only, or `path` is a folder. Leaves no file. Call it before long work, so
/// that a wrong path fails at once. It also removes the temporary files that killed writers left in the
/// folder.
void check_writable(const std::filesystem::path& path);

/// Returns the file that write_atomically(path) writes: `path` itself, or the file at the end of a chain of
/// symbolic links. Throws DataError for a folder, a device, a pipe, a loop of links, and another user's link
/// in a folder such as /tmp (with the sticky bit).
std::filesystem::path written_file(const std::filesystem::path& path);

/// Removes a file or a symbolic link. Does nothing, and reports no error, if `path` is a folder or cannot be
/// removed.
void remove_file(const std::filesystem::path& path);

/// Returns the bytes of a regular file, all or the first `most`. Throws DataError if it cannot be read, is
/// not a regular file, or they are more than the machine's memory.
std::vector<std::byte> read_bytes(const std::filesystem::path& path, uint64_t most = UINT64_MAX);

}  // namespace slimbayes
