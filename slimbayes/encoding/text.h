#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/encoding/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// How TextEncoder turns a column of text into tokens (whole numbers).
struct TextOptions {
  std::string column;  // name of the column of text
  // FitOptions has the defaults.
  int64_t vocabulary;  // most words that get a token of their own: the most frequent in training
  int64_t longest;     // most tokens of a row; the rest of the text is cut off
  int64_t least = 2;   // fewest occurrences in the training rows of a word with its own token
};

/// Returns the words of a text in their order. Each run of letters, marks and digits is one word, and each
/// other printed character is a word of its own. The text is first case-folded and normalised (Unicode form
/// KC). Bytes that are not UTF-8 are left out.
SLIMBAYES_EXPORT std::vector<std::string> words_of(std::string_view text);

/// Returns whether the text is valid UTF-8, as that of a file is.
SLIMBAYES_EXPORT bool is_utf8_text(std::string_view text);

/// The two tokens that stand for no particular word. kPadding fills a row up to the length of the longest row
/// in its batch; kUnknown stands for every word without a token of its own.
inline constexpr int64_t kPadding = 0, kUnknown = 1;

/// The tokens of n texts: those of row i are tokens[offsets[i]] to tokens[offsets[i + 1] - 1].
struct TokenRows {
  std::vector<int32_t> tokens;
  std::vector<int64_t> offsets = {0};  // [n + 1]
};

/// Turns texts into tokens, one for each word. It is fitted on the training rows and saved with the model.
class TextEncoder {
 public:
  /// Fits the vocabulary and the task on these rows. A word in a row of weight w (TargetOptions::weights)
  /// counts as w words. Throws std::invalid_argument for no rows, options out of
  /// range, or a column that is absent or is not text, and as fit_task.
  SLIMBAYES_EXPORT static TextEncoder fit(const Table& table, const std::vector<int64_t>& rows,
                                          const TextOptions& options, const TargetOptions& target);

  /// Returns the tokens of each row of the table, at most options().longest. An empty text is encoded as one
  /// kUnknown. Throws std::invalid_argument if the column is absent or is not text.
  SLIMBAYES_EXPORT TokenRows tokens_of(const Table& table) const;
  /// Returns the tokens of one text, as those of a row of a table.
  SLIMBAYES_EXPORT std::vector<int64_t> tokens_of(std::string_view text) const;

  /// Returns sentences that count the rows of this table without any word, with unknown words only, and with
  /// more tokens than options().longest, the rest of which is cut off.
  SLIMBAYES_EXPORT std::vector<std::string> notes_for(const Table& table) const;

  const Schema& schema() const { return schema_; }
  const TextOptions& options() const { return options_; }
  const std::string& target_name() const { return target_; }
  int64_t tokens() const { return static_cast<int64_t>(words_.size()) + 2; }  // words, kPadding and kUnknown
  /// Returns how read_table should read rows for this encoder (see Encoder::reading).
  SLIMBAYES_EXPORT Reading reading(bool with_target) const;

  SLIMBAYES_EXPORT nlohmann::json to_json() const;
  SLIMBAYES_EXPORT static TextEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  SLIMBAYES_EXPORT void number_words();
  TextOptions options_;
  std::string target_;
  Schema schema_;
  std::vector<std::string> words_;  // those with a token: most frequent first, ties in byte order
  std::unordered_map<std::string, int64_t> token_;
};

}  // namespace slimbayes
