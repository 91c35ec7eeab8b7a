#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// Writes a file completely or not at all: writes a temporary file in the same folder, syncs it, renames it
/// to the target and syncs the folder. A process killed at any moment leaves the old file or the new one. On
/// failure the temporary file is removed. A new file gets mode 0644 less the umask. A replaced file keeps its
/// mode and group, and its owner if the process has the right to change owners. If `path` is a symbolic link,
/// the link stays and the file that it names is replaced (written_file). Throws DataError if the file cannot
/// be written, if it exists and nobody may write it (mode 444), or if `path` is a device or a pipe.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Throws DataError if a file at `path` could not be written (folder missing, no permission, a
/// read-only file, path is a folder). Creates no lasting file. Call it before long work, so that a wrong path
/// fails at once. Also removes the temporary files that killed writers left in the folder.
void check_writable(const std::filesystem::path& path);

/// Returns the file that write_atomically(path) writes: `path` itself, or the file at the end of a chain of
/// symbolic links. Throws DataError for a folder, a device, a pipe, a loop of links, and for a link that
/// may_follow refuses.
std::filesystem::path written_file(const std::filesystem::path& path);

/// The owners of a link, of the folder that holds the link and of the file that it names; and that folder's
/// mode.
struct LinkOwners {
  uid_t link, folder, file;
  mode_t folder_mode;
};

/// Returns whether the user `self` may write through a link. In a sticky folder such as /tmp any user may
/// place a link under a name that another user is about to write. There the link must belong to `self` or to
/// the folder's owner, and the file to `self`. Other folders always give true: their permissions already
/// limit who may place links.
bool may_follow(const LinkOwners& owners, uid_t self);

/// Removes a file or a link. Does nothing, and reports no error, for a folder or a file that cannot be
/// removed.
void remove_file(const std::filesystem::path& path);

/// Reads all bytes of a regular file. Throws DataError if it cannot be read, is not a regular file, or is
/// larger than the machine's memory.
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

}  // namespace slimbayes
