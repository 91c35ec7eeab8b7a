#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/encoder.h"

namespace slimbayes {

/// How far a row lies from the training rows, over its columns of numbers, booleans and dates; as Outside
/// (encoding/outside.h) says it of each row of a table.
struct RowDistance {
  double beyond = 0;    // half-ranges beyond the training range of a column: the largest of the row; 0 inside
  double distance = 0;  // root mean square over the columns of (x - training mean) / training sd
};

/// Returns the number of a cell without categories as a file's reader would: NaN for a missing cell, 0 or 1
/// for yes and no, seconds since 1970 UTC for a date. `missing`: further texts of a missing cell, `notation`:
/// how the file spells numbers and dates. Throws
/// DataError for a text that is none of the column's kind.
double cell_number(const Encoder::Feature& column, std::string_view cell,
                   const std::vector<std::string>& missing, const Notation& notation);

/// Encodes single rows as Encoder::inputs does those of a table, without a table and without an allocation.
/// Immutable.
class RowEncoder {
 public:
  /// `missing`: further texts of a missing cell (Reading::missing); `notation`: how cells spell numbers and
  /// dates.
  explicit RowEncoder(const Encoder& encoder, std::vector<std::string> missing = {}, Notation notation = {});

  /// Returns the columns that give inputs, in the order of training.
  const std::vector<Encoder::Feature>& columns() const { return features_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& missing() const { return missing_; }
  const Notation& notation() const { return notation_; }
  size_t cells() const { return features_.size(); }    // texts of a row
  size_t numbers() const { return features_.size(); }  // of a row, before it is encoded
  int64_t width() const { return width_; }             // d, numbers of an encoded row

  /// Returns the number of the cell in column j: as cell_number(), and for a category the index of the
  /// training level, or the number of levels for one that training did not have.
  double number_of(size_t j, std::string_view cell) const;

  /// Writes the numbers of a row of texts, [cells()], to out [numbers()]. Throws as number_of().
  void read(std::span<const std::string_view> cells, std::span<double> out) const;

  /// Writes the inputs of a row with these numbers, one a column, to out [d]. A category is its index
  /// (number_of). Throws std::invalid_argument for another number of cells, for an index that is none, for an
  /// infinite number, and for a number that Encoder::inputs refuses.
  void encode(std::span<const double> numbers, std::span<float> out) const;

  /// Returns how far the row lies from the training rows; NaN in both where no column has a training range.
  /// Throws std::invalid_argument for another number of cells.
  RowDistance distance(std::span<const double> numbers) const;

  /// Returns the name of the first column of categories; "" if there is none.
  const std::string& categorical() const { return categorical_; }

 private:
  void encode_category(size_t j, double index, float*& out) const;
  int64_t level_of(size_t j, std::string_view cell) const;

  std::vector<Encoder::Feature> features_;
  std::vector<std::string> names_, missing_;
  Notation notation_;
  /// Of a column of categories that mean yes and no: the places of no and of yes among its levels; else -1.
  std::vector<std::array<int64_t, 2>> bits_;
  std::string categorical_;
  int64_t width_ = 0;
};

}  // namespace slimbayes
