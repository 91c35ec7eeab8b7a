#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace slimbayes {

/// Bytes that this process may still take: what the machine has available, what the limits of its control
/// groups (version 1 or 2, every group above it too) leave beside their page cache, and what RLIMIT_AS
/// leaves; the least of them. Where nothing is known, the largest number. `root` is where /proc and /sys are
/// looked for.
uint64_t memory_at_hand(const std::filesystem::path& root = "/");

/// Bytes of address space that RLIMIT_AS (ulimit -v) still leaves this process; the largest uint64_t where no
/// limit is set.
uint64_t address_space_at_hand(const std::filesystem::path& root = "/");

/// "1.2 GB", "350 MB", "800 bytes": for messages. A GB has 2^30 bytes.
std::string bytes_text(uint64_t bytes);

}  // namespace slimbayes
