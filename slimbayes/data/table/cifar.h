#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slimbayes {

/// Bytes of the image in a CIFAR record: planes of red, green and blue, 32 x 32 each, row by row.
inline constexpr int64_t kCifarPixels = int64_t{3} * 32 * 32;

/// What a file in the layout of CIFAR holds.
struct CifarRecords {
  std::string_view format;  // "cifar10" or "cifar100", as FitOptions::format names them
  int64_t count;            // records
};

/// Returns which records the bytes are by their number and their labels: "cifar10" for one label byte below
/// 10, "cifar100" for one below 100, or for two, a coarse one below 20 and a fine one below 100. Empty for
/// bytes that are no whole records or have other labels. Another file of the same length with such bytes in
/// the places of the labels is taken for records too, so use it for hints only.
std::optional<CifarRecords> cifar_records(std::string_view bytes);

}  // namespace slimbayes
