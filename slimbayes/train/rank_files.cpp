#include "slimbayes/train/rank_files.h"

#include <system_error>

#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace fs = std::filesystem;

bool RankFiles::exists(const fs::path& path) const {
  std::error_code absent;
  const bool here = writes() && fs::exists(path, absent);
  return ranks_ == nullptr ? here : broadcast_number(*ranks_, int64_t{here}) == 1;
}

TensorFile RankFiles::read(const fs::path& path) const {
  if (ranks_ == nullptr) return read_tensor_file(path);
  std::optional<TensorFile> file;
  if (writes()) file = read_tensor_file(path);
  const auto bytes = broadcast_bytes(*ranks_, file ? std::optional(to_bytes(*file)) : std::nullopt);
  return file ? std::move(*file) : parse_tensor_file(*bytes, path.string());
}

TensorHeader RankFiles::read_header(const fs::path& path) const {
  if (ranks_ == nullptr) return slimbayes::read_header(path);
  TensorFile only_metadata;
  if (writes()) only_metadata.metadata = slimbayes::read_header(path).metadata;
  only_metadata.metadata.erase("format_version");
  only_metadata.metadata.erase("checksum");
  const auto bytes = broadcast_bytes(*ranks_, to_bytes(only_metadata));
  return {parse_tensor_file(*bytes, path.string()).metadata, {}};
}

}  // namespace slimbayes
