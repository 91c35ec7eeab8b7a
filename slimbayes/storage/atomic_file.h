#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace slimbayes {

/// Writes a whole file or nothing: a temporary file beside it, fsync, rename, fsync of the folder. A kill at
/// any moment leaves the old file or the new one. The temporary is removed on failure. A new file's mode is
/// 0644 less the umask; a replaced one's mode and group stay, and its owner where the process may give files
/// away. A symbolic link stays a link: the file it names is replaced (written_file). Devices and pipes are
/// refused. Throws DataError.
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Throws DataError when a file at `path` could not be written (folder missing, no permission, path is a
/// folder). Leaves nothing behind: long work asks this before it starts. Removes the temporary files that
/// killed writers left in the folder.
void check_writable(const std::filesystem::path& path);

/// The file that write_atomically(path) writes: the end of a chain of links. Throws DataError for a folder,
/// device, pipe or loop of links, and for a link that may_follow refuses.
std::filesystem::path written_file(const std::filesystem::path& path);

/// Who owns a link, the folder that it lies in and the file that it names, and that folder's mode.
struct LinkOwners {
  uid_t link, folder, file;
  mode_t folder_mode;
};

/// Whether the user `self` may write through a link. In a sticky folder such as /tmp anybody may plant a link
/// under a name that somebody else is about to write: there the link must be the user's own or the folder
/// owner's, and the file the user's own. Elsewhere the folder's permissions say who may plant links.
bool may_follow(const LinkOwners& owners, uid_t self);

/// Removes a file or a link; a folder stays, and what cannot be removed too.
void remove_file(const std::filesystem::path& path);

/// A whole regular file's bytes. Throws DataError.
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

}  // namespace slimbayes
