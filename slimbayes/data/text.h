#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// How a column of text becomes tokens.
struct TextOptions {
  std::string column;          // the text
  int64_t vocabulary = 20000;  // the most frequent words of the training rows that have a token of their own
  int64_t least = 2;           // times that a word stands in the training rows to have one
  int64_t longest = 256;       // tokens of a row; the rest is cut off
};

/// The words of a text: runs of letters, marks and digits, and every other printed character by itself; lower
/// case, Unicode normal form KC. Bytes that are no UTF-8 are left out.
std::vector<std::string> words_of(std::string_view text);

/// Token 0 fills a row up to the longest of its batch, token 1 is every word without one of its own.
inline constexpr int64_t kPadding = 0, kUnknown = 1;

/// From texts to tokens, fitted on the training rows and saved with the model.
class TextEncoder {
 public:
  /// The vocabulary and the task of these rows. Throws std::invalid_argument for a column that is absent or
  /// no text, and as fit_task.
  static TextEncoder fit(const Table& table, const std::vector<int64_t>& rows, const TextOptions& options,
                         const std::string& target, std::optional<LikelihoodKind> likelihood);

  /// inputs int64 [b, t] with their mask, t the longest row of the batch (1 where all are empty); the target
  /// where `with_target`. An empty text is one unknown token.
  Dataset dataset(const Table& table, bool with_target) const;

  /// Sentences on this table: rows without a text, rows of unknown words alone, rows that are cut.
  std::vector<std::string> notes_for(const Table& table) const;

  const Schema& schema() const { return schema_; }
  const TextOptions& options() const { return options_; }
  const std::string& target_name() const { return target_; }
  int64_t tokens() const { return static_cast<int64_t>(words_.size()) + 2; }  // with padding and unknown
  Reading reading(bool with_target) const;

  nlohmann::json to_json() const;
  static TextEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  void number_words();
  std::vector<int64_t> tokens_of(std::string_view text) const;
  TextOptions options_;
  std::string target_;
  Schema schema_;
  std::vector<std::string> words_;  // by falling frequency, then by their bytes
  std::unordered_map<std::string, int64_t> token_;
};

}  // namespace slimbayes
