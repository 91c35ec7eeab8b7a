#include "slimbayes/encoding/text.h"

#include <gtest/gtest.h>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

using Words = std::vector<std::string>;

TEST(Words, AreLettersAndDigitsOrOneSignEach) {
  EXPECT_EQ(words_of("It's  GOOD, isn't-it? 10,000!"),
            (Words{"it", "'", "s", "good", ",", "isn", "'", "t", "-", "it", "?", "10", ",", "000", "!"}));
  EXPECT_EQ(words_of("STRASSE Straße ﬁn"), (Words{"strasse", "strasse", "fin"}));  // case folding, ligatures
  EXPECT_EQ(words_of("naïve nai\xcc\x88ve"), (Words{"naïve", "naïve"}));           // NFC and NFD agree
  EXPECT_EQ(words_of(" \t\n\x01"), Words{});
  EXPECT_EQ(words_of(std::string("ab\xff\xfe cd", 7)), (Words{"ab", "cd"}));
}

Table reviews() {
  return table_of(
      {categories("text", {0, 1, 2, 0, 3, 4}, {"a good film", "a bad film", "good good", "", "zebra !"}),
       categories("label", {0, 1, 0, 0, 1, 1}, {"up", "down"})});
}

TextOptions short_texts(int64_t longest = 256) { return {"text", 20000, longest}; }

TextEncoder fitted(const TextOptions& options = short_texts()) {
  return TextEncoder::fit(reviews(), all_rows(reviews()), options, {"label"});
}

TEST(TextEncoder, NumbersTheFrequentWordsOfItsRows) {
  const TextEncoder encoder = fitted();
  EXPECT_EQ(encoder.to_json()["words"], (Words{"good", "a", "film"}));  // seen 4, 3, 3 times; others once
  EXPECT_EQ(encoder.tokens(), 5);
  const TokenRows rows = encoder.tokens_of(reviews());
  EXPECT_EQ(rows.tokens, (std::vector<int32_t>{3, 2, 4, 3, 1, 4, 2, 2, 3, 2, 4, 1, 1, 1}));
  EXPECT_EQ(rows.offsets, (std::vector<int64_t>{0, 3, 6, 8, 11, 12, 14}));
  EXPECT_EQ(encoder.tokens_of(take_rows(reviews(), {})).offsets, (std::vector<int64_t>{0}));
}

TEST(TextEncoder, KeepsItsBoundsAndSurvivesJson) {
  const TextEncoder encoder = fitted({"text", 2, 2, 1});
  EXPECT_EQ(encoder.tokens(), 4);
  EXPECT_EQ(encoder.tokens_of(reviews()).offsets, (std::vector<int64_t>{0, 2, 4, 6, 8, 9, 11}));
  const TextEncoder again = TextEncoder::from_json(encoder.to_json());
  EXPECT_EQ(again.to_json(), encoder.to_json());
  EXPECT_EQ(again.schema().task.levels, encoder.schema().task.levels);
  nlohmann::json damaged = encoder.to_json();
  damaged["words"] = {"good", "good"};
  EXPECT_THROW(TextEncoder::from_json(damaged), std::invalid_argument);
}

TEST(TextEncoder, SaysWhatItCouldNotRead) {
  const std::vector<std::string> notes = fitted(short_texts(2)).notes_for(reviews());
  ASSERT_EQ(notes.size(), 3u);
  expect_has(notes[0], "1 of 6 rows has no word in 'text'");
  expect_has(notes[1], "1 of 6 rows has no word of the vocabulary");
  expect_has(notes[2], "3 of 6 rows are longer than 2 tokens");
  expect_has(error_of([] { fitted({"txt", 20000, 256}); }), "did you mean 'text'?");
  Table table = reviews();
  table.columns.push_back(numbers("n", {1, 2, 3, 4, 5, 6}));
  expect_has(error_of([&] {
               TextEncoder::fit(table, all_rows(table), {"n", 20000, 256}, {"label"});
             }),
             "expected text in 'n'; received a numeric column");
}

}  // namespace
}  // namespace slimbayes
