#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/encoding/row_encoder.h"
#include "slimbayes/encoding/text.h"

namespace slimbayes {

/// Encodes single texts as TextEncoder does those of a table. The numbers of a text are its tokens, then
/// zeros (kPadding) up to TextOptions::longest. Immutable.
class SingleTextEncoder {
 public:
  /// `missing`: further texts that count as a missing cell, which is an empty text; `notation`: how texts
  /// spell the numbers among these.
  explicit SingleTextEncoder(TextEncoder encoder, std::vector<std::string> missing = {},
                             Notation notation = {});

  const std::vector<Encoder::Feature>& columns() const { return columns_; }  // the one of text
  size_t cells() const { return 1; }
  size_t numbers() const { return static_cast<size_t>(width()); }
  int64_t width() const { return encoder_.options().longest; }
  int64_t tokens() const { return encoder_.tokens(); }  // different ones

  /// Writes the tokens of a text, [1], to out [numbers()]. Throws DataError for what is not UTF-8.
  void read(std::span<const std::string_view> cells, std::span<double> out) const;

  /// Writes tokens to out [width()]. Throws std::invalid_argument for another number of them, for what is no
  /// token, and unless the padding follows at least one token.
  void encode(std::span<const double> tokens, std::span<float> out) const;

  /// A text has no distance: NaN.
  RowDistance distance(std::span<const double> tokens) const;

 private:
  TextEncoder encoder_;
  std::vector<std::string> missing_;
  Notation notation_;
  std::vector<Encoder::Feature> columns_;
};

}  // namespace slimbayes
