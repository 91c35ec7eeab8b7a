#include "slimbayes/method/stored_parts.h"

#include <utility>

namespace slimbayes {

namespace {

template <class Map>
Map entries_under(const Map& map, const std::string& prefix) {
  Map part;
  for (auto at = map.lower_bound(prefix); at != map.end() && at->first.starts_with(prefix); ++at)
    part.emplace(at->first.substr(prefix.size()), at->second);
  return part;
}

}  // namespace

void store_under(const std::string& prefix, TensorFile part, TensorFile& file) {
  for (auto& [name, text] : part.metadata) file.metadata[prefix + name] = std::move(text);
  for (auto& [name, tensor] : part.tensors) file.tensors[prefix + name] = std::move(tensor);
}

TensorFile part_under(const std::string& prefix, const TensorFile& file) {
  return {entries_under(file.metadata, prefix), entries_under(file.tensors, prefix)};
}

}  // namespace slimbayes
