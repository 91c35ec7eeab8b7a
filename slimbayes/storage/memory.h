#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace slimbayes {

/// Returns how many bytes this process may still allocate. This is the smallest of three numbers: the
/// machine's available memory, what the limits of the process's control groups leave (Linux cgroups, version
/// 2, parent groups included; page cache counts as free), and what the limit on its address space (RLIMIT_AS)
/// leaves. Returns the largest uint64_t if none is known. `root` is the folder that holds proc
/// and sys; tests pass another one.
uint64_t memory_at_hand(const std::filesystem::path& root = "/");

/// Returns how many bytes of address space the limit RLIMIT_AS (ulimit -v) still leaves this process; the
/// largest uint64_t if no limit is set. `root`: see memory_at_hand.
uint64_t address_space_at_hand(const std::filesystem::path& root = "/");

/// Returns how many threads this process may have: those that it has, and what the limits of its control
/// groups (pids.max, version 2) and of its user (RLIMIT_NPROC, ulimit -u, from which root is exempt) leave.
/// Returns the largest uint64_t without a limit. No thread is started to find out. Another process may take
/// what is left, or have threads that /proc does not show. `root`: see memory_at_hand.
uint64_t threads_at_hand(const std::filesystem::path& root = "/");

/// Makes the C library keep memory that is freed for later allocations of this process (glibc; elsewhere it
/// does nothing). A training step frees and allocates the same large tensors again and again; without this
/// the kernel takes their pages back and clears new ones each time, which costs as much as the arithmetic on
/// them. The process then keeps up to its peak of memory until it ends. Call it once, at the start of a
/// program that trains or predicts.
void keep_freed_memory();

/// Formats a number of bytes for messages: "1.2 GB", "350 MB", "800 bytes". A GB has 2^30 bytes.
std::string bytes_text(uint64_t bytes);

}  // namespace slimbayes
