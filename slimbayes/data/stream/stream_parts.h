#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// How the rows of a streamed table are dealt to the parts of a fit.
struct StreamOptions {
  std::string target = {};  // rows without it belong to no part
  /// Columns that are no inputs; names that are no columns are passed over.
  std::vector<std::string> ignore = {};
  std::vector<std::string> declared = {};       // columns that the user declared to hold names
  double test = 0, calibration = 0, valid = 0;  // shares of the rows
  std::string kind = "auto";                    // as SplitOptions::kind; "auto" decides by the first piece
  uint64_t seed = 0;
  /// Most bytes of the rows that each part keeps in memory: of the training part a sample, of the others all
  /// rows, so that their shares become smaller if necessary.
  uint64_t most_bytes = uint64_t{32} << 20;
};

/// The parts of a streamed table. The part of a row follows from a hash of its inputs or its place, so that
/// it is the same in every pass and on every machine, and no list of rows is needed.
class StreamParts {
 public:
  enum Part : uint8_t { test, calibration, valid, train };

  /// `first` is the first piece of the table: its cells decide which columns tell one input from another
  /// (input_names). Throws std::invalid_argument if it lacks the target.
  StreamParts(const StreamOptions& options, const Table& first);

  /// Returns whether rows with equal inputs stay together; otherwise each row is dealt by its place.
  bool by_inputs() const { return by_inputs_; }

  /// Empties the ignored columns of a piece, so that their texts take no memory.
  void blank(Table& piece) const;

  /// Returns a hash of each row, [n].
  std::vector<uint64_t> hashes(const Table& piece) const;

  Part part_of(uint64_t hash) const;

  /// Halves a part: the upper half of its hashes belongs to the training part then.
  void halve(Part part) {
    width_[part] /= 2;
    ++halved_[part];
  }

  /// Returns how often a part that is held out was halved.
  int halved(Part part) const { return halved_[part]; }

 private:
  std::array<double, 3> begin_, width_;  // of the hashes of each part held out, as shares of all hashes
  std::array<int, 3> halved_ = {};
  std::vector<std::string> inputs_, ignore_;
  bool by_inputs_;
  uint64_t seed_;
};

/// Returns the ignored columns and the target, as far as they are columns.
std::vector<std::string> columns_without_inputs(const StreamOptions& options, const Table& first);

/// Returns a hash of the cells of each row in these columns, in the order of their names. Equal cells have
/// equal hashes in all pieces.
std::vector<uint64_t> row_hashes(const Table& piece, const std::vector<std::string>& names, uint64_t seed);

/// Returns the rows with a target.
std::vector<int64_t> labelled_rows_of(const Table& piece, const std::string& target);

/// Returns a hash as a number from 0 to below 1.
double share_of_hash(uint64_t hash);

/// Returns the training rows of a piece, in their order; ignored columns are empty.
Table training_rows(Table piece, const StreamParts& parts, const std::string& target);

}  // namespace slimbayes
