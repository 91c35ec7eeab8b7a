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

/// Recognises CIFAR records by the number of bytes and the labels: "cifar10" if each record has one label
/// byte below 10, "cifar100" if it has one below 100, or two, a coarse one below 20 and a fine one below 100.
/// Returns nothing for a length that is not one of whole records, and for other labels. A file of another
/// format may pass by chance, so use the result for hints only.
std::optional<CifarRecords> cifar_records(std::string_view bytes);

}  // namespace slimbayes
