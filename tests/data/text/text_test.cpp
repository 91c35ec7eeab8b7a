#include "slimbayes/data/text/text.h"

#include <ATen/ATen.h>
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
  const Dataset data = encoder.dataset(reviews(), true);
  const Batch batch = data.source->rows(at::arange(6), {});
  const at::Tensor expected =
      at::tensor(std::vector<int64_t>{3, 2, 4, 3, 1, 4, 2, 2, 0, 3, 2, 4, 1, 0, 0, 1, 1, 0}).view({6, 3});
  EXPECT_TRUE(at::equal(batch.inputs[0], expected));
  EXPECT_TRUE(at::equal(batch.mask.sum(1), at::tensor(std::vector<int64_t>{3, 3, 2, 3, 1, 2})));
  EXPECT_TRUE(at::equal(data.source->lengths(), batch.mask.sum(1)));
  EXPECT_TRUE(at::equal(batch.target, at::tensor({1.0, 0.0, 1.0, 1.0, 0.0, 0.0}, at::kDouble)));
  // A batch is padded to its own longest text, not to the table's.
  const Batch some = data.source->rows(at::tensor(std::vector<int64_t>{2, 4}), {});
  EXPECT_EQ(some.inputs[0].sizes(), at::IntArrayRef({2, 2}));
  EXPECT_EQ(data.source->rows(at::empty({0}, at::kLong), {}).inputs[0].size(0), 0);
}

TEST(TextEncoder, KeepsItsBoundsAndSurvivesJson) {
  const TextEncoder encoder = fitted({"text", 2, 2, 1});
  EXPECT_EQ(encoder.tokens(), 4);
  EXPECT_EQ(encoder.dataset(reviews(), false).source->lengths().max().item<int64_t>(), 2);
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
