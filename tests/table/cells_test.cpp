#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/data/table_cells.h"

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
  EXPECT_EQ(format_datetime(-0.5), "1969-12-31T23:59:59.5");
  EXPECT_THROW(format_datetime(1e15), std::invalid_argument);
  EXPECT_THROW(format_datetime(std::nan("")), std::invalid_argument);
}

TEST(is_missing, knows_its_spellings) {
  for (const char* text : {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"})
    EXPECT_TRUE(is_missing(text));
  for (const char* text : {"0", "-", "none of them", "NAN1"}) EXPECT_FALSE(is_missing(text)) << text;
}

TEST(in_quotes, cuts_long_text_between_characters) {
  EXPECT_EQ(in_quotes("a\nb"), "'a b'");
  std::string accents;
  for (int i = 0; i < 30; ++i) accents += "\xC3\xA9";
  std::string text = in_quotes("x" + accents);
  EXPECT_TRUE(text.ends_with("...'"));
  EXPECT_LT(text.size(), 50u);
}

}  // namespace
}  // namespace slimbayes
