#pragma once

#include <span>
#include <string>
#include <vector>

#include "slimbayes/encoding/encoder.h"

namespace slimbayes {

/// Encodes rows of numbers as Encoder::inputs does those of a table, without a table.
class NumberRow {
 public:
  explicit NumberRow(const Encoder& encoder);

  /// Returns the names of the columns that give inputs, in the order of training.
  const std::vector<std::string>& columns() const { return names_; }

  /// Writes the inputs of a row with these cells, in the order of columns(); NaN is a missing cell. Throws
  /// std::invalid_argument for another number of cells, for an encoder with a column of categories, and for a
  /// number that Encoder::inputs refuses.
  void encode(std::span<const double> cells, std::span<float> out) const;

 private:
  std::vector<Encoder::Feature> features_;
  std::vector<std::string> names_;
  std::string categorical_;  // the first column of categories; "" if there is none
};

}  // namespace slimbayes
