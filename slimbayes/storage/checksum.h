#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace slimbayes {

/// The text at the start of the JSON header of every slimbayes file, after the 8-byte header length. The 32
/// digits of the checksum follow it. All versions of the layout keep this text, so that any build can tell a
/// damaged file from a newer one.
inline constexpr std::string_view kHeaderStart = R"({"__metadata__":{"checksum":")";

/// Position of the checksum's first digit in the file, in bytes, and the number of digits.
inline constexpr size_t kChecksumAt = 8 + kHeaderStart.size();
inline constexpr size_t kChecksumDigits = 32;

/// Computes XXH3-128 over all bytes of a file, with the checksum's own digits read as '0'. Returns lower-case
/// hexadecimal. Throws std::invalid_argument for fewer than kChecksumAt + kChecksumDigits bytes.
std::string checksum_of(std::span<const std::byte> file);

/// Computes the checksum of `file` and writes its digits at kChecksumAt.
void seal(std::span<std::byte> file);

}  // namespace slimbayes
