#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace slimbayes {

/// The text with which the JSON header of every slimbayes file begins, after the 8-byte header length. The 32
/// digits of the checksum follow it. All versions of the file layout keep this text, so that any version of
/// slimbayes can find the checksum and tell a damaged file from one of a newer version.
inline constexpr std::string_view kHeaderStart = R"({"__metadata__":{"checksum":")";

/// kChecksumAt is the position of the checksum's first digit in the file, in bytes; kChecksumDigits is the
/// number of digits.
inline constexpr size_t kChecksumAt = 8 + kHeaderStart.size();
inline constexpr size_t kChecksumDigits = 32;

/// Returns the checksum (XXH3-128) of all bytes of a file as 32 lower-case hexadecimal digits. The place of
/// the checksum in the file is taken as 32 digits '0'. Throws std::invalid_argument if the file is too short
/// to hold a checksum.
std::string checksum_of(std::span<const std::byte> file);

/// Computes the checksum of `file`, the bytes of a whole file, and writes its digits into them at
/// kChecksumAt.
void seal(std::span<std::byte> file);

}  // namespace slimbayes
