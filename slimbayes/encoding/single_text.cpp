#include "slimbayes/encoding/single_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

SingleTextEncoder::SingleTextEncoder(TextEncoder encoder, std::vector<std::string> missing, Notation notation)
    : encoder_(std::move(encoder)),
      missing_(std::move(missing)),
      notation_(std::move(notation)),
      columns_(1) {
  columns_[0].name = encoder_.options().column;
  columns_[0].kind = ColumnKind::categorical;
}

void SingleTextEncoder::read(std::span<const std::string_view> cells, std::span<double> out) const {
  const std::string_view cell = trimmed(cells[0]);
  const bool missing = is_missing(cell) || is_mark(cell, missing_, notation_);
  if (!is_utf8_text(cells[0]))
    throw DataError("row",
                    fmt::format("expected text in UTF-8 in column {}; received other bytes; convert it",
                                in_quotes(columns_[0].name)));
  const std::vector<int64_t> tokens = encoder_.tokens_of(missing ? std::string_view() : cells[0]);
  std::ranges::fill(out, static_cast<double>(kPadding));
  std::ranges::copy(tokens, out.begin());
}

void SingleTextEncoder::encode(std::span<const double> tokens, std::span<float> out) const {
  if (tokens.size() != numbers())
    refuse("text", fmt::format("{} tokens and padding", numbers()), fmt::format("{} numbers", tokens.size()));
  const auto last = static_cast<double>(encoder_.tokens() - 1);
  bool padding = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const double token = tokens[i];
    if (!(token >= 0 && token <= last && token == std::floor(token)))
      refuse("text", fmt::format("tokens from 0 to {}", last), fmt::format("{}", token));
    padding = padding || token == static_cast<double>(kPadding);
    check(!(padding && (i == 0 || token != static_cast<double>(kPadding))), "text",
          "at least one token, then the padding", "a padding before a token");
    out[i] = static_cast<float>(token);
  }
}

RowDistance SingleTextEncoder::distance(std::span<const double>) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {kNone, kNone};
}

}  // namespace slimbayes
