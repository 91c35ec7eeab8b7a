#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/data/target.h"

namespace slimbayes {

/// How a column of text becomes tokens.
struct TextOptions {
  std::string column;  // name of the column of text
  // FitOptions has the defaults.
  int64_t vocabulary;  // number of words with a token of their own: the most frequent ones of training
  int64_t longest;     // largest number of tokens of a row; the rest of the row is cut off
  int64_t least = 2;   // a word needs this many occurrences in the training rows for a token of its own
};

/// Splits a text into words: each run of letters, marks and digits is one word, and so is each other printed
/// character. The text is case-folded and normalised (Unicode form KC). Bytes that are not UTF-8 are left
/// out.
std::vector<std::string> words_of(std::string_view text);

/// Token 0 pads a row to the length of the longest row in its batch; token 1 stands for every word without a
/// token of its own.
inline constexpr int64_t kPadding = 0, kUnknown = 1;

/// Turns texts into tokens. It is fitted on the training rows and saved with the model.
class TextEncoder {
 public:
  /// Fits the vocabulary and the task on these rows. Throws std::invalid_argument for no rows, sizes out of
  /// range, or a column that is absent or is not text, and as fit_task.
  static TextEncoder fit(const Table& table, const std::vector<int64_t>& rows, const TextOptions& options,
                         const TargetOptions& target);

  /// Returns inputs int64 [b, t] with their mask, and the target if `with_target`. t is the length of the
  /// longest row of the batch. An empty text is encoded as one unknown token.
  Dataset dataset(const Table& table, bool with_target) const;

  /// Returns sentences about this table: on rows without a word, rows with unknown words only, and rows that
  /// are cut off.
  std::vector<std::string> notes_for(const Table& table) const;

  const Schema& schema() const { return schema_; }
  const TextOptions& options() const { return options_; }
  const std::string& target_name() const { return target_; }
  int64_t tokens() const { return static_cast<int64_t>(words_.size()) + 2; }  // with padding and unknown
  /// Says how to read a file of rows for this encoder, as Encoder::reading.
  Reading reading(bool with_target) const;

  nlohmann::json to_json() const;
  static TextEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  void number_words();
  std::vector<int64_t> tokens_of(std::string_view text) const;
  TextOptions options_;
  std::string target_;
  Schema schema_;
  std::vector<std::string> words_;  // by falling frequency, then in byte order
  std::unordered_map<std::string, int64_t> token_;
};

}  // namespace slimbayes
