#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// Writes a whole file or nothing: a temporary file beside it, fsync, rename, fsync of the folder. A kill at
/// any moment leaves the old file or the new one. The temporary is removed on failure. The mode is 0644 less
/// the umask. A symbolic link stays a link: the file it names is replaced. Devices and pipes are refused.
/// Throws DataError.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Throws DataError when a file at `path` could not be written (folder missing, no permission, path is a
/// folder). Leaves nothing behind: long work asks this before it starts.
void check_writable(const std::filesystem::path& path);

/// A whole regular file's bytes. Throws DataError.
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

}  // namespace slimbayes
