#include "slimbayes/storage/checksum.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

namespace slimbayes {

std::string checksum_of(std::span<const std::byte> file) {
  if (file.size() < kChecksumAt + kChecksumDigits) {
    throw std::invalid_argument(fmt::format("[checksum_of] expected at least {} bytes; received {}",
                                            kChecksumAt + kChecksumDigits, file.size()));
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
  if (!state) throw std::bad_alloc();
  const auto tail = file.subspan(kChecksumAt + kChecksumDigits);
  const std::string zeros(kChecksumDigits, '0');
  XXH3_128bits_reset(state.get());
  XXH3_128bits_update(state.get(), file.data(), kChecksumAt);
  XXH3_128bits_update(state.get(), zeros.data(), zeros.size());
  XXH3_128bits_update(state.get(), tail.data(), tail.size());
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void seal(std::span<std::byte> file) {
  const std::string digits = checksum_of(file);
  std::ranges::copy(std::as_bytes(std::span(digits)), file.begin() + kChecksumAt);
}

}  // namespace slimbayes
