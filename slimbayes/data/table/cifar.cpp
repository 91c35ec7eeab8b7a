#include "slimbayes/data/table/cifar.h"

#include <algorithm>
#include <iterator>

namespace slimbayes {
namespace {

/// Returns the largest byte that stands at offset `place` of a record. Each record has `record` bytes.
int64_t largest(std::string_view bytes, int64_t place, int64_t record) {
  int64_t most = 0;
  for (int64_t i = place; i < std::ssize(bytes); i += record)
    most = std::max<int64_t>(most, static_cast<unsigned char>(bytes[static_cast<size_t>(i)]));
  return most;
}

}  // namespace

std::optional<CifarRecords> cifar_records(std::string_view bytes) {
  constexpr int64_t kClasses = 10, kCoarse = 20, kFine = 100;
  constexpr int64_t one = 1 + kCifarPixels, two = 2 + kCifarPixels;  // record bytes by number of labels
  const int64_t size = std::ssize(bytes);
  if (size > 0 && size % one == 0) {
    const int64_t label = largest(bytes, 0, one);
    if (label < kFine) return CifarRecords{label < kClasses ? "cifar10" : "cifar100", size / one};
  }
  const bool fine =
      size > 0 && size % two == 0 && largest(bytes, 0, two) < kCoarse && largest(bytes, 1, two) < kFine;
  return fine ? std::optional(CifarRecords{"cifar100", size / two}) : std::nullopt;
}

}  // namespace slimbayes
