#include <fmt/format.h>
#include <xxhash.h>

#include <memory>

#include "slimbayes/methods/table_model.h"

namespace slimbayes {

std::string table_hash(const Table& table) {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  auto add = [&](const void* bytes, size_t size) {
    XXH3_128bits_update(state.get(), &size, sizeof size);
    XXH3_128bits_update(state.get(), bytes, size);
  };
  for (const Column& column : table.columns) {
    add(column.name.data(), column.name.size());
    add(&column.kind, sizeof column.kind);
    for (const std::string& level : column.levels) add(level.data(), level.size());
    add(column.values.data(), column.values.size() * sizeof(double));
  }
  XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace slimbayes
