#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/split/split.h"
#include "slimbayes/data/stream/stream_parts.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/data/table/table_parts.h"
#include "slimbayes/data/table/table_stream.h"
#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/encoding/encoder.h"

namespace slimbayes {

/// A table that need not fit into memory, after a pass over its rows.
struct StreamedTable {
  Table rows;           // a sample of the training rows, and all rows of the other parts
  SplitRows split;      // of `rows`; its notes tell of the parts
  TableStatistics all;  // of all training rows; levels as in the columns of `rows`
  StreamParts parts;
  std::string hash =
      {};  // identifies the data: the sum of hashes of the rows (XXH3, 128 bits), in hexadecimal
};

/// What is kept of the rows of a table in a pass over them. Several processes can each read a share of the
/// rows (TableStream::read_share) and join what they have kept. The result is the same, up to the rounding of
/// the moments and, where the rows of a part do not fit into memory, which of them are kept.
class StreamPass {
 public:
  /// `first` is the first piece of the table, also in a process that does not read it: it decides which
  /// columns are inputs, and which number the rows or hold free text. Throws as StreamParts.
  StreamPass(std::string source, StreamOptions options, const Table& first);

  void add(Table piece);

  /// Returns all of this as a text for another process; join() adds what such a text tells. The options of
  /// the processes must be equal.
  std::string text() const;
  void join(std::string_view text);

  /// Throws std::invalid_argument if there was no row with a target.
  StreamedTable result() &&;

 private:
  void keep(StreamParts::Part part, Table rows);
  void halve(StreamParts::Part part);
  void learn(const Table& piece, const std::vector<int64_t>& rows, const std::vector<uint64_t>& hashes);
  void sample(const Table& piece, const std::vector<int64_t>& rows, const std::vector<uint64_t>& hashes);
  void sample_less();
  bool is_sampled(uint64_t hash, int64_t number) const;
  TableStatistics of_levels_in(Table& table) const;
  std::vector<std::string> notes(const SplitRows& split) const;

  StreamOptions options_;
  StreamParts parts_;
  std::string source_;
  std::vector<JoinedTable> kept_;  // by part; of the training part the sample
  double sampled_ = 1;             // share of the training rows in the sample
  std::map<std::string, StatisticsOfParts> statistics_;
  std::vector<std::string> numbering_, read_columns_;
  std::vector<TablePart> files_;
  std::array<uint64_t, 2> hash_ = {};  // sums of the two halves of the rows' hashes
  int64_t read_ = 0, train_ = 0;
};

/// Makes a pass over the rows. `progress` (may be empty) is called after each piece with the share of the
/// files that is read. Throws DataError as TableStream::next(), and std::invalid_argument if there is no row
/// with a target.
StreamedTable streamed_table(TableStream& stream, const StreamOptions& options,
                             const std::function<void(double)>& progress = {});

}  // namespace slimbayes
