#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slimbayes {

/// Number of bytes of the image in a CIFAR record: the red, the green and the blue plane, each of 32 x 32
/// bytes, row by row.
inline constexpr int64_t kCifarPixels = int64_t{3} * 32 * 32;

/// The variant of CIFAR whose layout a file has, and the number of its records (label bytes, then an image).
struct CifarRecords {
  std::string_view format;  // "cifar10" or "cifar100", as FitOptions::format names them
  int64_t count;            // number of records
};

/// Recognises a file of CIFAR records by its length and its label bytes. The format is "cifar10" if each
/// record has one label byte below 10, and "cifar100" if it has one below 100, or a coarse label below 20 and
/// a fine one below 100. Returns nullopt for other labels and for a length that is not a whole number of
/// records. A file of another format may pass by chance, so use the result only for hints in messages.
std::optional<CifarRecords> cifar_records(std::string_view bytes);

}  // namespace slimbayes
