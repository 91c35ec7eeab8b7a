// Encodes text as tokens. Words are found by the Unicode categories of their characters and case-folded by
// utf8proc, which works for all languages alike. The vocabulary comes from the training rows alone, so that
// it contains no information from the test rows.
#include "slimbayes/encoding/text.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

constexpr const char* kText = "text";

bool in_word(utf8proc_int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

bool is_printed(utf8proc_int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
      return false;
    default:
      return true;
  }
}

/// Returns the text without the bytes that are not valid UTF-8.
std::string valid_part(std::string_view text) {
  std::string valid;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t c = 0;
    const auto length = utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(text.size() - i), &c);
    if (length > 0) valid.append(text.substr(i, static_cast<size_t>(length)));
    i += length > 0 ? static_cast<size_t>(length) : 1;
  }
  return valid;
}

std::string folded(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                                      UTF8PROC_CASEFOLD);
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &out, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) {
    const std::string valid = valid_part(text);
    if (!(valid.size() < text.size()))
      refuse(kText, "text that Unicode's rules can fold", utf8proc_errmsg(size));
    return folded(valid);
  }
  return {reinterpret_cast<const char*>(out), static_cast<size_t>(size)};
}

const Column& text_column(const Table& table, const std::string& name) {
  const Column* column = table.find(name);
  if (column == nullptr)
    refuse(kText, fmt::format("a column {} of text", in_quotes(name)), "a table without it",
           nearest_hint(name, table.names()));
  if (column->kind != ColumnKind::categorical)
    refuse(kText, fmt::format("text in {}", in_quotes(name)),
           fmt::format("a {} column", kind_name(column->kind)), "name another column by `.text`");
  return *column;
}

/// Returns the text of a row; "" for a missing cell.
std::string_view text_at(const Column& column, int64_t row) {
  const double x = column.values[static_cast<size_t>(row)];
  return std::isnan(x) ? std::string_view() : std::string_view(column.levels[static_cast<size_t>(x)]);
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  const std::string all = folded(text);
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(all.data());
  std::vector<std::string> words;
  bool open = false;  // whether the next letter continues the last word
  for (size_t i = 0; i < all.size();) {
    utf8proc_int32_t c = 0;
    const auto length = utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(all.size() - i), &c);
    if (length <= 0) break;  // cannot happen: folded() returns valid UTF-8
    const bool word = in_word(c);
    const std::string piece = all.substr(i, static_cast<size_t>(length));
    if (word && open)
      words.back() += piece;
    else if (word || is_printed(c))
      words.push_back(piece);
    open = word;
    i += static_cast<size_t>(length);
  }
  return words;
}

bool is_utf8_text(std::string_view text) { return valid_part(text).size() == text.size(); }

TextEncoder TextEncoder::fit(const Table& table, const std::vector<int64_t>& rows, const TextOptions& options,
                             const TargetOptions& target) {
  check(!rows.empty(), kText, "at least one training row", "none");
  if (!(options.vocabulary >= 1 && options.vocabulary <= kMostWords && options.longest >= 1 &&
        options.longest <= kLongestText && options.least >= 1))
    refuse(kText,
           fmt::format("a vocabulary from 1 to {} and rows of 1 to {} tokens", kMostWords, kLongestText),
           fmt::format("{} and {}", options.vocabulary, options.longest));
  const Column& column = text_column(table, options.column);
  TextEncoder encoder;
  encoder.options_ = options;
  encoder.target_ = target.name;
  encoder.schema_.task = fit_task(table, rows, target);
  encoder.schema_.features = {options.column};
  if (!target.weights.empty() && std::ssize(target.weights) != table.rows)
    refuse(kText, fmt::format("a weight for each of the {} rows", table.rows),
           fmt::format("{}", target.weights.size()));
  std::unordered_map<std::string, double> counts;
  for (int64_t row : rows) {
    const double weight = target.weights.empty() ? 1 : target.weights[static_cast<size_t>(row)];
    for (std::string& word : words_of(text_at(column, row))) counts[std::move(word)] += weight;
  }
  std::vector<std::pair<std::string, double>> frequent;
  for (auto& entry : counts) {
    if (entry.second >= static_cast<double>(options.least)) frequent.emplace_back(entry);
  }
  std::ranges::sort(frequent, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (std::ssize(frequent) > options.vocabulary) frequent.resize(static_cast<size_t>(options.vocabulary));
  for (auto& entry : frequent) encoder.words_.push_back(std::move(entry.first));
  encoder.number_words();
  return encoder;
}

void TextEncoder::number_words() {
  for (size_t i = 0; i < words_.size(); ++i) token_[words_[i]] = static_cast<int64_t>(i) + 2;
  schema_.input = {{options_.longest}, true};
  schema_.tokens = tokens();
}

std::vector<int64_t> TextEncoder::tokens_of(std::string_view text) const {
  std::vector<int64_t> tokens;
  for (const std::string& word : words_of(text)) {
    if (std::ssize(tokens) == options_.longest) break;
    const auto found = token_.find(word);
    tokens.push_back(found == token_.end() ? kUnknown : found->second);
  }
  if (tokens.empty()) tokens.push_back(kUnknown);
  return tokens;
}

TokenRows TextEncoder::tokens_of(const Table& table) const {
  const Column& column = text_column(table, options_.column);
  TokenRows rows;
  for (int64_t row = 0; row < table.rows; ++row) {
    for (int64_t token : tokens_of(text_at(column, row))) rows.tokens.push_back(static_cast<int32_t>(token));
    rows.offsets.push_back(std::ssize(rows.tokens));
  }
  return rows;
}

std::vector<std::string> TextEncoder::notes_for(const Table& table) const {
  const Column& column = text_column(table, options_.column);
  int64_t empty = 0, unknown = 0, cut = 0;
  for (int64_t row = 0; row < table.rows; ++row) {
    const std::vector<std::string> words = words_of(text_at(column, row));
    empty += words.empty();
    cut += std::ssize(words) > options_.longest;
    unknown += !words.empty() &&
               std::ranges::none_of(words, [&](const std::string& w) { return token_.contains(w); });
  }
  std::vector<std::string> notes;
  const auto add = [&](int64_t rows, const char* one, const char* several, const std::string& what) {
    if (rows > 0)
      notes.push_back(
          fmt::format("{} of {} {} {}", rows, counted(table.rows, "row"), rows == 1 ? one : several, what));
  };
  add(empty, "has", "have",
      fmt::format("no word in {}: answered as one unknown word", in_quotes(options_.column)));
  add(unknown, "has", "have", fmt::format("no word of the vocabulary in {}", in_quotes(options_.column)));
  add(cut, "is", "are",
      fmt::format("longer than {}: the rest is cut off", counted(options_.longest, "token")));
  return notes;
}

Reading TextEncoder::reading(bool with_target) const {
  Reading reading;
  reading.others_used = false;
  reading.names = {options_.column};
  if (with_target && schema_.task.kind == TaskKind::classification) reading.labels = {target_};
  if (with_target && schema_.task.kind != TaskKind::classification)
    reading.kinds[target_] = ColumnKind::numeric;
  return reading;
}

nlohmann::json TextEncoder::to_json() const {
  return {{"kind", "text"},
          {"column", options_.column},
          {"vocabulary", options_.vocabulary},
          {"least", options_.least},
          {"longest", options_.longest},
          {"target", target_},
          {"words", words_},
          {"task", slimbayes::to_json(schema_.task)}};
}

TextEncoder TextEncoder::from_json(const nlohmann::json& json) {
  constexpr const char* kWhere = "TextEncoder::from_json";
  const JsonReader read(json, kWhere);
  TextEncoder encoder;
  encoder.options_ = {read.text("column"), read.count("vocabulary", 1, kMostWords),
                      read.count("longest", 1, kLongestText), read.count("least", 1, INT64_MAX)};
  encoder.target_ = read.text("target");
  encoder.words_ = read.texts("words");
  if (!(std::ssize(encoder.words_) <= encoder.options_.vocabulary))
    refuse(kWhere, "at most as many words as its vocabulary", fmt::format("{}", encoder.words_.size()),
           "the model file is damaged");
  encoder.number_words();
  check(encoder.token_.size() == encoder.words_.size(), kWhere, "different words", "one twice",
        "the model file is damaged");
  encoder.schema_.task = task_from_json(read.value("task"), kWhere);
  encoder.schema_.features = {encoder.options_.column};
  return encoder;
}

}  // namespace slimbayes
