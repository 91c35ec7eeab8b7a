#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace slimbayes {

/// Every file of ours begins, after its 8-byte header length, with this text; the 32 digits of the checksum
/// follow. Later versions of the layout keep it, so that any build can tell damage from novelty.
inline constexpr std::string_view kHeaderStart = R"({"__metadata__":{"checksum":")";

/// Where the digits lie and how many there are.
inline constexpr size_t kChecksumAt = 8 + kHeaderStart.size();
inline constexpr size_t kChecksumDigits = 32;

/// XXH3-128 over all bytes of a file, in lower-case hexadecimal, with its own digits counted as '0'.
/// Needs at least kChecksumAt + kChecksumDigits bytes (std::invalid_argument).
std::string checksum_of(std::span<const std::byte> file);

/// Writes the right digits in their place.
void seal(std::span<std::byte> file);

}  // namespace slimbayes
