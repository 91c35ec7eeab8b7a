#include "slimbayes/data/table/cells.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slimbayes {
namespace {

TEST(parse_number, reads_what_people_write) {
  EXPECT_EQ(parse_number("42"), 42.0);
  EXPECT_EQ(parse_number("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(parse_number("+7"), 7.0);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5.0);
  EXPECT_EQ(parse_number("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  EXPECT_TRUE(std::isnan(*parse_number("nan")));
}

TEST(parse_number, refuses_the_rest) {
  for (const char* text : {"", "abc", "1 2", "1,5", "0x10", "1e", "--1", "+-1", "+", "5%", "1_000"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

TEST(parse_datetime, reads_dates_times_fractions_and_zones) {
  EXPECT_EQ(parse_datetime("1970-01-01"), 0.0);
  EXPECT_EQ(parse_datetime("2000-02-29"), 951782400.0);
  EXPECT_EQ(parse_datetime("1969-12-31T23:59:59"), -1.0);
  EXPECT_EQ(parse_datetime("2020-01-01 12:30"), 1577881800.0);
  EXPECT_EQ(parse_datetime("2020-01-01T12:30:15.25Z"), 1577881815.25);
  EXPECT_EQ(parse_datetime("2020-01-01T12:30:00+02:00"), 1577874600.0);
  EXPECT_EQ(parse_datetime("2020-01-01T12:30:00-0130"), 1577887200.0);
}

TEST(parse_datetime, takes_midnight_as_the_end_of_a_day) {
  EXPECT_EQ(parse_datetime("2020-01-01T24:00"), parse_datetime("2020-01-02"));
  for (const char* beyond :
       {"2020-01-01T24:01", "2020-01-01T24:00:01", "2020-01-01T24:00:00.5", "2020-01-01T25:00"})
    EXPECT_EQ(parse_datetime(beyond), std::nullopt) << beyond;
}

TEST(parse_datetime, takes_offsets_of_at_most_fourteen_hours) {
  EXPECT_EQ(parse_datetime("2020-01-01T12:30-00:00"), 1577881800.0);
  EXPECT_EQ(parse_datetime("2020-01-01T12:30+14:00"), 1577881800.0 - 14 * 3600);
  EXPECT_EQ(parse_datetime("2020-01-01T12:30-12"), 1577881800.0 + 12 * 3600);
  for (const char* zone : {"+14:01", "-14:30", "+25:00", "+99:99", "+15", "-1500", "+01:60", "+0175"})
    EXPECT_FALSE(parse_datetime(std::string("2020-01-01T12:30") + zone)) << zone;
}

TEST(parse_datetime, refuses_the_rest) {
  for (const char* text :
       {"", "2020", "2020-13-01", "2021-02-29", "2020-01-01T", "2020-01-01T25:00", "2020-01-01x", "20200101",
        "01/02/2020", "2020-01-01T10:00:00.", "2020-01-01T10:00:00+2"}) {
    EXPECT_FALSE(parse_datetime(text)) << text;
  }
}

TEST(format_datetime, is_the_inverse_of_parse_datetime) {
  for (double seconds :
       {0.0, -1.0, 951782400.0, 1577881815.25, -62167219200.0, 253402300799.0, 1577881815.000001}) {
    EXPECT_EQ(parse_datetime(format_datetime(seconds)), seconds) << format_datetime(seconds);
  }
  EXPECT_EQ(format_datetime(0), "1970-01-01");
  for (const char* text : {"2024-01-01T00:00:00.015", "2024-01-01T00:00:01.6", "2024-01-01T00:00:00.000019"})
    EXPECT_EQ(format_datetime(parse_datetime(text).value()), text);  // no digits of rounding
  EXPECT_EQ(format_datetime(-0.5), "1969-12-31T23:59:59.5");
  EXPECT_THROW(format_datetime(1e15), std::invalid_argument);
  EXPECT_THROW(format_datetime(std::nan("")), std::invalid_argument);
}

TEST(has_offset, sees_z_and_signs_behind_the_date) {
  for (const char* text : {"2020-01-01T12:30Z", "2020-01-01T12:30:00+02:00", "2020-01-01 12:30:00.5-0130"})
    EXPECT_TRUE(has_offset(text)) << text;
  for (const char* text : {"2020-01-01", "2020-01-01T12:30", "2020-01-01 12:30:15.25", ""})
    EXPECT_FALSE(has_offset(text)) << text;
  for (double seconds : {0.0, -0.5, 1577881815.25}) {
    EXPECT_TRUE(has_offset(format_utc(seconds)));
    EXPECT_EQ(parse_datetime(format_utc(seconds)), seconds) << format_utc(seconds);
  }
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00Z");
}

TEST(is_missing, knows_its_spellings) {
  for (const char* text :
       {"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL", "None", "\\N", "?"})
    EXPECT_TRUE(is_missing(text)) << text;
  for (const char* text : {"0", "-", "none of them", "NAN1"}) EXPECT_FALSE(is_missing(text)) << text;
}

TEST(in_quotes, cuts_long_text_between_characters) {
  EXPECT_EQ(in_quotes("a\nb"), "'a b'");
  std::string accents;
  for (int i = 0; i < 30; ++i) accents += "\xC3\xA9";
  std::string text = in_quotes("x" + accents);
  EXPECT_TRUE(text.ends_with("...'"));
  EXPECT_LT(text.size(), 50u);
  EXPECT_EQ(text, in_quotes("x" + accents.substr(0, 38) +
                            "\xC3\xA9 and more"));  // the character at the cut goes whole
  std::string wide;
  for (int i = 0; i < 20; ++i) wide += "\xE4\xB8\xAD";
  EXPECT_EQ(in_quotes(wide), "'" + wide.substr(0, 39) + "...'");
}

TEST(column_of_kind, is_not_judged_by_its_cells) {
  const std::vector<std::string_view> codes = {"100", "1", "", "01"}, bits = {"yes", "0", "?", "1"};
  Column names = column_of_kind("c", ColumnKind::categorical, codes);
  EXPECT_EQ(names.levels, (std::vector<std::string>{"100", "1", "01"}));
  EXPECT_TRUE(std::isnan(names.values[2]));
  Column truth = column_of_kind("b", ColumnKind::boolean, bits);
  EXPECT_EQ(truth.values[0], 1);
  EXPECT_EQ(truth.values[1], 0);
  EXPECT_EQ(truth.values[3], 1);
  const auto refusal = [](ColumnKind kind, std::vector<std::string_view> cells) {
    try {
      column_of_kind("c", kind, cells);
    } catch (const BadCell& bad) {
      return std::to_string(bad.row) + " " + bad.what();
    }
    return std::string();
  };
  EXPECT_TRUE(refusal(ColumnKind::numeric, {"a", "b", "1"})
                  .starts_with("0 expected numbers in column 'c'; received 'a'"));
  EXPECT_TRUE(refusal(ColumnKind::numeric, {"1", "inf"}).starts_with("1 expected finite numbers"));
  EXPECT_TRUE(refusal(ColumnKind::boolean, {"yes", "maybe"}).starts_with("1 expected yes or no"));
  EXPECT_TRUE(refusal(ColumnKind::datetime, {"2020-01-01", "3"}).starts_with("1 expected ISO dates"));
}

TEST(as_categorical, names_are_the_texts_of_cells) {
  const double none = std::nan("");
  EXPECT_EQ(as_categorical({"x", ColumnKind::numeric, {2015, 0.5, none, 2015}, {}}).levels,
            (std::vector<std::string>{"2015", "0.5"}));
  EXPECT_EQ(as_categorical({"b", ColumnKind::boolean, {1, 0}, {}, {"no", "yes"}}).levels,
            (std::vector<std::string>{"yes", "no"}));
  EXPECT_EQ(as_categorical({"d", ColumnKind::datetime, {0}, {}}).levels,
            (std::vector<std::string>{"1970-01-01"}));
}

TEST(tells_apart, levels_that_read_as_one_value) {
  const std::vector<std::string> codes = {"01", "1.0", "A"}, apart = {"1", "2", "yes", "no"};
  EXPECT_FALSE(tells_apart(codes, ColumnKind::numeric));
  EXPECT_TRUE(tells_apart(codes, ColumnKind::boolean));
  EXPECT_TRUE(tells_apart(apart, ColumnKind::numeric));
  EXPECT_TRUE(tells_apart(apart, ColumnKind::boolean));
}

TEST(column_from_cells, leading_zeros_make_names_of_numbers) {
  const auto kind = [](std::vector<std::string_view> cells) {
    return kind_name(column_from_cells("c", cells).kind);
  };
  EXPECT_EQ(kind({"02139", " 10001", "", "94110"}), "categorical");  // all of one length
  EXPECT_EQ(kind({"030", "0171", "089"}), "categorical");            // most have a leading zero
  EXPECT_EQ(kind({"7", "05", "12", "100"}), "numeric");              // one leading zero is a typing
  EXPECT_EQ(kind({"0", "1", "0"}), "numeric");
  EXPECT_EQ(kind({"0.50", "1.25"}), "numeric");
  EXPECT_EQ(kind({"00012.5", "00013.5"}), "numeric");
  EXPECT_EQ(kind({"-01", "-02"}), "numeric");
  EXPECT_EQ(kind({"20210331", "20220401"}), "numeric");
  const std::vector<std::string_view> zips = {"02139", "10001"}, mixed = {"7", "05", "12"};
  EXPECT_EQ(column_from_cells("c", zips).levels, (std::vector<std::string>{"02139", "10001"}));
  EXPECT_EQ(column_from_cells("c", mixed).words, (std::vector<std::string>{"05"}));
  EXPECT_EQ(column_from_cells("c", zips, false).values, (std::vector<double>{2139, 10001}));
  EXPECT_EQ(column_of_kind("c", ColumnKind::numeric, zips).values[0], 2139);
}

TEST(trimmed, drops_what_a_spreadsheet_leaves) {
  EXPECT_EQ(trimmed(" \tcolonial \r\n"), "colonial");
  EXPECT_EQ(trimmed("\u00a0 New\u00a0York \u00a0"), "New\u00a0York");
  EXPECT_EQ(trimmed(" \u00a0"), "");
}

}  // namespace
}  // namespace slimbayes
