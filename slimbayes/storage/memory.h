#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace slimbayes {

/// Returns how many bytes this process may still allocate: the smallest of the machine's available memory,
/// the memory that its control groups leave (version 1 or 2, parent groups included; page cache counts as
/// free) and the address space that RLIMIT_AS leaves. Returns the largest uint64_t if none of them is known.
/// `root` is the folder in which /proc and /sys lie; tests pass another one.
uint64_t memory_at_hand(const std::filesystem::path& root = "/");

/// Returns how many bytes of address space RLIMIT_AS (ulimit -v) still leaves this process; the largest
/// uint64_t if no limit is set.
uint64_t address_space_at_hand(const std::filesystem::path& root = "/");

/// Formats a number of bytes for messages: "1.2 GB", "350 MB", "800 bytes". A GB has 2^30 bytes.
std::string bytes_text(uint64_t bytes);

}  // namespace slimbayes
