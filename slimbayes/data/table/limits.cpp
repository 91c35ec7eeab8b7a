// Limits how much memory a table may take. The limit is checked before memory is allocated, for two reasons:
// a system that promises more memory than it has kills the process without a message, and a compressed file
// of a few megabytes may unpack to more than the whole memory.
#include "slimbayes/data/table/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/memory.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

constexpr uint64_t kAlways = uint64_t{256} << 20;  // bytes to which any compressed file may unpack

}  // namespace

TableBound TableBound::of(const TableLimits& limits, uint64_t file, uint64_t ratio) {
  if (limits.memory > 0) return {limits.memory, limits.memory, limits.cell, file, true, limits.pieces};
  const uint64_t machine = memory_at_hand() / 4 * 3;
  return {machine,      ratio > 0 ? std::max(kAlways, ratio * file) : machine, limits.cell, file, false,
          limits.pieces};
}

void TableBound::check(uint64_t bytes, const std::string& source) const {
  if (bytes <= memory) return;
  const std::string needed = bytes_text(bytes), most = bytes_text(memory);
  const char* of = pieces ? "a piece of a table" : "a table";
  const char* instead = pieces ? "" : ", or fit from disk (fit: `.cache`)";
  if (asked) {
    throw DataError(
        source,
        fmt::format("expected {} that takes at most {} of memory (`.max_table_memory`); received one that "
                    "takes {} or more; raise the bound{}{}",
                    of, most, needed,
                    pieces ? ", or use fewer columns or smaller row groups" : ", use fewer rows", instead));
  }
  throw OutOfMemory(fmt::format(
      "{}: not enough memory to read the table: expected at most {}, three quarters of what is at hand; "
      "received {} that takes {} or more; free memory, use fewer {}columns, raise the bound by "
      "`.max_table_memory`{}",
      foreign_text(source), most, of, needed, pieces ? "" : "rows or ", instead));
}

void TableBound::check_unpacked(uint64_t bytes, const std::string& source) const {
  check(bytes, source);
  if (bytes <= unpacked) return;
  throw DataError(
      source,
      fmt::format("expected a file that unpacks to at most {}{}; received one of {} that takes {} or more; "
                  "if it is to be trusted, raise the bound by `.max_table_memory`",
                  bytes_text(unpacked),
                  unpacked > kAlways ? fmt::format(", {} times its size", unpacked / file) : "",
                  bytes_text(file), bytes_text(bytes)));
}

void TableBound::check_cell(uint64_t bytes, std::string_view column, const std::string& source) const {
  if (bytes <= cell) return;
  throw DataError(source,
                  fmt::format("expected cells of at most {} in column {}; received one of {}; shorten it, or "
                              "write the table without that column",
                              bytes_text(cell), in_quotes(column), bytes_text(bytes)));
}

void throw_out_of_memory(const std::string& source) {
  throw OutOfMemory(fmt::format(
      "{}: not enough memory to read the table: expected memory for its cells; the system gave none ({} are "
      "at hand); free memory, raise its limit (ulimit -v), or use fewer rows or columns",
      foreign_text(source), bytes_text(memory_at_hand())));
}

}  // namespace slimbayes
