// Reads any bytes as a table: the first byte chooses the file's ending, the rest is the content of a file in
// memory. Reading must give a table or throw DataError. A table must be rectangular, its numbers finite and
// its category codes within the levels.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "slimbayes/data/table/table.h"
#include "slimbayes/storage/error.h"

namespace {

using namespace slimbayes;

constexpr std::array<std::string_view, 6> kEndings{".csv",    ".tsv",     ".csv.gz",
                                                   ".tsv.gz", ".parquet", ".feather"};

// A file in memory with a symbolic link to it that has the right ending.
struct MemoryFile {
  explicit MemoryFile(std::string_view ending) : descriptor(::memfd_create("fuzz", MFD_CLOEXEC)) {
    const std::string name = "slimbayes-fuzz-" + std::to_string(::getpid()) + std::string(ending);
    path = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(descriptor), path);
  }
  ~MemoryFile() {
    ::close(descriptor);
    std::filesystem::remove(path);
  }
  void fill(std::span<const uint8_t> bytes) const {
    if (::ftruncate(descriptor, 0) != 0) __builtin_trap();
    if (::pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      __builtin_trap();
  }

  int descriptor;
  std::filesystem::path path;
};

void check_table(const Table& table) {
  for (const Column& column : table.columns) {
    if (static_cast<int64_t>(column.values.size()) != table.rows || column.name.empty()) __builtin_trap();
    for (const double value : column.values) {
      if (std::isnan(value)) continue;
      if (std::isinf(value)) __builtin_trap();
      const auto levels = static_cast<double>(column.levels.size());
      if (column.kind == ColumnKind::categorical && !(value >= 0 && value < levels)) __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::array<MemoryFile, kEndings.size()> files{
      MemoryFile(kEndings[0]), MemoryFile(kEndings[1]), MemoryFile(kEndings[2]),
      MemoryFile(kEndings[3]), MemoryFile(kEndings[4]), MemoryFile(kEndings[5])};
  const MemoryFile& file = files[data[0] % files.size()];
  file.fill(std::span(data, size).subspan(1));
  try {
    check_table(read_table(file.path));
  } catch (const DataError&) {
    return 0;
  }
  return 0;
}
