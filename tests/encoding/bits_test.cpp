#include "slimbayes/encoding/bits.h"

#include <gtest/gtest.h>

#include "slimbayes/encoding/target.h"
#include "tests/encoding/fitted_encoder.h"

namespace slimbayes {
namespace {

const std::vector<double> kSixBits = {0, 1, 1, kMissing, 0, 1};

Column bits_as_booleans() { return {"b", ColumnKind::boolean, kSixBits, {}}; }
Column bits_as_numbers() { return {"b", ColumnKind::numeric, kSixBits, {}}; }
Column bits_as_words(const std::string& no, const std::string& yes) {
  return {"b", ColumnKind::categorical, kSixBits, {no, yes}};
}

std::vector<Column> all_spellings() {
  return {bits_as_booleans(),
          bits_as_numbers(),
          bits_as_words("no", "yes"),
          bits_as_words("FALSE", "TRUE"),
          bits_as_words("False", "True"),
          bits_as_words("0", "1"),
          bits_as_words("0.0", "1.0"),
          bits_as_words("No", "Yes")};
}

TEST(are_bits, NeedEachMeaningOnce) {
  EXPECT_TRUE(are_bits({"no", "yes"}));
  EXPECT_TRUE(are_bits({"TRUE"}));
  EXPECT_TRUE(are_bits({"0", "1"}));
  EXPECT_FALSE(are_bits({"no", "yes", "maybe"}));
  EXPECT_FALSE(are_bits({"True", "true"}));
  EXPECT_FALSE(are_bits({"1", "2"}));
  EXPECT_FALSE(are_bits({}));
}

TEST(bits_as, LeavesWhatIsAsInTrainingOrMeansSomethingElse) {
  EXPECT_FALSE(bits_as(bits_as_booleans(), {ColumnKind::boolean}));
  EXPECT_FALSE(bits_as(bits_as_numbers(), {ColumnKind::numeric}));
  EXPECT_FALSE(bits_as(bits_as_words("no", "yes"), {ColumnKind::categorical, {"no", "yes"}}));
  EXPECT_FALSE(bits_as(bits_as_words("no", "maybe"), {ColumnKind::boolean}));
  EXPECT_FALSE(bits_as(bits_as_words("no", "maybe"), {ColumnKind::categorical, {"no", "yes"}}));
  EXPECT_FALSE(bits_as(bits_as_words("TRUE", "FALSE"), {ColumnKind::categorical, {"no", "yes", "maybe"}}));
  EXPECT_FALSE(bits_as({"b", ColumnKind::numeric, {0, 1, 2}, {}}, {ColumnKind::boolean}));
  EXPECT_FALSE(bits_as({"b", ColumnKind::datetime, {0, 1}, {}}, {ColumnKind::boolean}));
}

// A table whose column b is spelled in some way, with a number and a target that b explains.
Table bits_table(Column b) {
  Table table{"t", {}, 24};
  Column x{"x", ColumnKind::numeric, {}, {}}, y{"y", ColumnKind::numeric, {}, {}};
  const Column pattern = b;
  b.values.clear();
  for (size_t i = 0; i < 24; ++i) {
    x.values.push_back(static_cast<double>(i * i % 7));
    b.values.push_back(pattern.values[i % pattern.values.size()]);
    y.values.push_back(static_cast<double>(i % 5));
  }
  table.columns = {x, b, y};
  return table;
}

std::vector<int64_t> bits_rows() {
  std::vector<int64_t> all(24);
  for (int64_t i = 0; i < 24; ++i) all[static_cast<size_t>(i)] = i;
  return all;
}

TEST(Encoder, TakesYesAndNoInEverySpelling) {
  for (const Column& trained : all_spellings()) {
    const Encoder encoder = Encoder::fit(bits_table(trained), bits_rows(), {.target = "y"});
    const std::vector<float> expected = inputs_of(encoder, bits_table(trained));
    for (const Column& given : all_spellings()) {
      const Table table = bits_table(given);
      EXPECT_EQ(inputs_of(encoder, table), expected) << kind_name(trained.kind) << kind_name(given.kind);
      EXPECT_EQ(inputs_of(encoder, encoder.as_trained(table)), expected);
      EXPECT_TRUE(encoder.notes_for(table).empty());
    }
  }
}

TEST(Encoder, RefusesOtherNumbersAndTextsAsYesAndNo) {
  const Encoder encoder = Encoder::fit(bits_table(bits_as_booleans()), bits_rows(), {.target = "y"});
  EXPECT_THROW(inputs_of(encoder, bits_table({"b", ColumnKind::numeric, {0, 1, 2}, {}})),
               std::invalid_argument);
  EXPECT_THROW(inputs_of(encoder, bits_table(bits_as_words("no", "maybe"))), std::invalid_argument);
  EXPECT_THROW(inputs_of(encoder, bits_table({"b", ColumnKind::datetime, kSixBits, {}})),
               std::invalid_argument);
  const Encoder wide =
      Encoder::fit(bits_table({"b", ColumnKind::numeric, {0, 0.5, 1}, {}}), bits_rows(), {.target = "y"});
  EXPECT_THROW(inputs_of(wide, bits_table(bits_as_words("no", "yes"))), std::invalid_argument);
}

TEST(target_values, TakesClassesOfYesAndNoInEverySpelling) {
  for (const Column& trained : all_spellings()) {
    const auto known = [](Table table) { return with_target(std::move(table), "b"); };
    const Table table = known(bits_table(trained));
    std::vector<int64_t> present;
    for (int64_t i = 0; i < table.rows; ++i) present.push_back(i);
    const Task task = fit_task(table, present, {.name = "b"});
    ASSERT_EQ(task.kind, TaskKind::classification);
    for (const Column& given : all_spellings())
      EXPECT_EQ(target_values(known(bits_table(given)), "b", task), target_values(table, "b", task));
  }
}

}  // namespace
}  // namespace slimbayes
