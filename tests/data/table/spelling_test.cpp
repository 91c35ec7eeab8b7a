#include "slimbayes/data/table/spelling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

const Notation kEnglish = {",", "."}, kGerman = {".", ","}, kFrench = {" ", ","}, kSwiss = {"'", "."};

Reading in(const Notation& notation) {
  Reading reading;
  reading.notation = notation;
  return reading;
}

std::string error_in_notation(const std::string& text, const Reading& reading) {
  try {
    parse_csv(text, ',', {"t.csv", reading});
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(parse_number, in_the_notation_of_a_file) {
  EXPECT_EQ(parse_number("1,234.5", kEnglish), 1234.5);
  EXPECT_EQ(parse_number("-1,234,567", kEnglish), -1234567);
  EXPECT_EQ(parse_number("+12,345", kEnglish), 12345);
  EXPECT_EQ(parse_number("1234.5", kEnglish), 1234.5);  // without its separators
  EXPECT_EQ(parse_number("1.5e3", kEnglish), 1500);
  EXPECT_EQ(parse_number("1.234,5", kGerman), 1234.5);
  EXPECT_EQ(parse_number("1.234.567", kGerman), 1234567);
  EXPECT_EQ(parse_number("0,25", kGerman), 0.25);
  EXPECT_EQ(parse_number(",5", kGerman), 0.5);
  EXPECT_EQ(parse_number("1,5e-3", kGerman), 1.5e-3);
  EXPECT_EQ(parse_number("1 234,5", kFrench), 1234.5);
  EXPECT_EQ(parse_number("1\u00a0234\u202f567,5", kFrench), 1234567.5);
  EXPECT_EQ(parse_number("1'234.5", kSwiss), 1234.5);
  EXPECT_EQ(parse_number("1\u2019234", kSwiss), 1234);
  EXPECT_EQ(parse_number("1,5", Notation{"", ","}), 1.5);
  EXPECT_TRUE(std::isnan(*parse_number("nan", kGerman)));
  EXPECT_EQ(parse_number("1.5", Notation{}), 1.5);
}

/// What PerhapsGroups says of `count` numbers as `plain` spells them, and of these others.
std::string perhaps_groups(int count, const std::string& tail, const std::vector<std::string>& others) {
  PerhapsGroups groups;
  for (int i = 0; i < count; ++i) groups.add(std::to_string(4 + i) + "." + tail);
  for (const std::string& other : others) groups.add(other);
  return groups.example();
}

TEST(PerhapsGroups, are_thousands_beside_small_whole_numbers) {
  EXPECT_EQ(perhaps_groups(10, "757", {"850"}), "4.757");
  EXPECT_EQ(perhaps_groups(10, "757", {"-850", "0"}), "4.757");
  EXPECT_EQ(perhaps_groups(9, "757", {"850"}), "");
  EXPECT_EQ(perhaps_groups(10, "757", {}), "");
  for (const char* other : {"1850", "0.757", "4.75", "4.7571", "4757.123", "1e3", "05", ".757", "4."})
    EXPECT_EQ(perhaps_groups(10, "757", {"850", other}), "") << other;
}

TEST(PerhapsGroups, are_thousands_that_end_in_zeros) {
  EXPECT_EQ(perhaps_groups(9, "757", {"12.500", "1.900", "2.000"}), "4.757");
  EXPECT_EQ(perhaps_groups(9, "757", {"12.500", "1.900"}), "");
  EXPECT_EQ(perhaps_groups(13, "757", {"12.500", "1.900", "2.000"}), "");  // less than a fifth
  EXPECT_EQ(perhaps_groups(12, "500", {}), "");                            // steps of a half
}

TEST(lost_number, names_a_plain_number_that_a_notation_hides) {
  const std::vector<std::string> plain = {"3", "0.5", "1.25"}, words = {"0.5", "b"}, whole = {"3", "4"};
  EXPECT_EQ(lost_number(plain, kGerman), "0.5");
  EXPECT_EQ(lost_number(plain, kEnglish), "");
  EXPECT_EQ(lost_number(words, kGerman), "");
  EXPECT_EQ(lost_number(whole, kGerman), "");
  EXPECT_EQ(options_text(kGerman), "`.thousands=.` `.decimal=,`");
  EXPECT_EQ(options_text({"", ","}), "`.decimal=,`");
}

TEST(parse_number, refuses_wrong_groups) {
  for (const char* text : {"1,23,4", "1,2345", "1234,567", ",123", "1,", "0,123", "012,345", "1,234.5,6",
                           "1,,234", "1,234e5", "1,2a4", "-", "--1,234", "1 234"})
    EXPECT_FALSE(parse_number(text, kEnglish)) << text;
  for (const char* text : {"1.5", "1,234.5", "1.23,4", "1,2,3", "1,234.567", ".5"})
    EXPECT_FALSE(parse_number(text, kGerman)) << text;
  EXPECT_FALSE(parse_number("1.5", Notation{"", ","}));
  EXPECT_FALSE(parse_number("1  234", kFrench));
}

TEST(notation, of_a_text_file) {
  const Table t = parse_csv("x,c,n\n\"1,234.5\",\"1,2\",7\n12,b,\n\"-2,000\",b,\"9,007,199,254,740,993\"\n",
                            ',', {"t.csv", in(kEnglish)});
  EXPECT_EQ(t.find("x")->values, (std::vector<double>{1234.5, 12, -2000}));
  EXPECT_EQ(t.find("c")->levels, (std::vector<std::string>{"1,2", "b"}));  // names stay as they are
  EXPECT_TRUE(std::isnan(t.find("n")->values[1]));
  EXPECT_EQ(t.find("n")->large, "9007199254740993");
  const Table other = parse_csv("x\ty\n1.234,5\t02139\n0,5\t10115\n", '\t', {"t.tsv", in(kGerman)});
  EXPECT_EQ(other.find("x")->values, (std::vector<double>{1234.5, 0.5}));
  EXPECT_EQ(other.find("y")->kind, ColumnKind::categorical);
}

Notation dates(std::string format) { return {"", ".", std::move(format)}; }

TEST(parse_datetime, by_a_format) {
  const auto day = [](const char* iso) { return parse_datetime(iso); };
  EXPECT_EQ(parse_datetime("31.12.2014", dates("%d.%m.%Y")), day("2014-12-31"));
  EXPECT_EQ(parse_datetime("1.2.2014", dates("%d.%m.%Y")), day("2014-02-01"));
  EXPECT_EQ(parse_datetime("12/31/2014 11:30 PM", dates("%m/%d/%Y %I:%M %p")), day("2014-12-31 23:30"));
  EXPECT_EQ(parse_datetime("31.12.14 08:09:10", dates("%d.%m.%y %H:%M:%S")), day("2014-12-31 08:09:10"));
  EXPECT_EQ(parse_datetime("3 Feb 2014", dates("%d %b %Y")), day("2014-02-03"));
  EXPECT_EQ(parse_datetime("02/2014", dates("%m/%Y")), day("2014-02-01"));
  EXPECT_EQ(parse_datetime("20141231", dates("%Y%m%d")), day("2014-12-31"));
  for (const char* text : {"31.02.2014", "31.12.14", "31.13.2014", "31.12.2014x", "31/12/2014", "", "soon"})
    EXPECT_FALSE(parse_datetime(text, dates("%d.%m.%Y"))) << text;
  EXPECT_FALSE(parse_datetime("2014123", dates("%Y%m%d")));
  EXPECT_FALSE(parse_datetime(std::string_view("31.12.2014\0", 11), dates("%d.%m.%Y")));
}

TEST(parse_datetime, in_iso_beside_a_format) {
  EXPECT_EQ(parse_datetime("2014-12-31T23:00Z", dates("%d.%m.%Y")), parse_datetime("2014-12-31T23:00Z"));
  EXPECT_EQ(parse_datetime("2014-05-06", dates("%Y-%d-%m")), parse_datetime("2014-06-05"));
  EXPECT_FALSE(parse_datetime("2014-12-31", dates("%Y-%d-%m")));  // no second meaning in one column
  EXPECT_EQ(parse_datetime("2014-12-31", dates("%Y-%m-%d %H:%M")), parse_datetime("2014-12-31"));
}

TEST(notation, dates_of_a_text_file) {
  const std::string text = "d,iso,x,id\n31.12.2014,2014-01-01,1,7\nNA,2014-01-02,2,8\n01.01.2015,,3,9\n";
  const Table t = parse_csv(text, ',', {"t.csv", in(dates("%d.%m.%Y"))});
  EXPECT_EQ(t.find("d")->kind, ColumnKind::datetime);
  EXPECT_EQ(t.find("d")->values[2], parse_datetime("2015-01-01"));
  EXPECT_EQ(t.find("iso")->kind, ColumnKind::datetime);
  EXPECT_EQ(t.find("x")->kind, ColumnKind::numeric);
  EXPECT_EQ(parse_csv(text, ',', {"t.csv"}).find("d")->kind, ColumnKind::categorical);
  const Table compact =
      parse_csv("d,x\n20141231,7\n20150101,20150101\n", ',', {"t.csv", in(dates("%Y%m%d"))});
  EXPECT_EQ(compact.find("d")->values[0], parse_datetime("2014-12-31"));
  EXPECT_EQ(compact.find("x")->kind, ColumnKind::numeric);
  const Table months = parse_csv("d\n12.2014\n01.2015\n", ',', {"t.csv", in(dates("%m.%Y"))});
  EXPECT_EQ(months.find("d")->values[1], parse_datetime("2015-01-01"));
  const std::string error =
      error_in_notation("d\n31.12.2014\n30.12.2014\n31.02.2014\n", in(dates("%d.%m.%Y")));
  EXPECT_TRUE(
      error.starts_with("t.csv:4:1: expected dates of the format '%d.%m.%Y', or ISO dates (2014-12-31 "
                        "or 2014-12-31T23:00:00) in column 'd', as in most of its cells; received "
                        "'31.02.2014' (data row 3): 1 of 3 cells"))
      << error;
}

TEST(notation, a_time_of_a_format_has_no_offset) {
  const Table t = parse_csv("d\n31/12/2014 10-30\n", ',', {"t.csv", in(dates("%d/%m/%Y %H-%M"))});
  EXPECT_EQ(t.find("d")->values[0], parse_datetime("2014-12-31 10:30"));
  EXPECT_FALSE(t.find("d")->offsets);
}

TEST(notation, wrong_groups_are_wrong_cells) {
  const std::string text = "x\n\"1,234\"\n\"5,678.5\"\n\"1,23,4\"\n";
  const std::string error = error_in_notation(text, in(kEnglish));
  EXPECT_TRUE(
      error.starts_with("t.csv:4:1: expected numbers such as 1,234.5 in column 'x', as in most of its "
                        "cells; received '1,23,4' (data row 3): 1 of 3 cells"))
      << error;
  Reading known = in(kEnglish);
  known.kinds = {{"x", ColumnKind::numeric}};
  EXPECT_TRUE(
      error_in_notation("x\n\"1,23\"\n", known).starts_with("t.csv:2:1: expected numbers such as 1,234.5"));
}

TEST(notation, of_marks) {
  Reading reading = in(kGerman);
  reading.missing = {"-9.999", "1"};
  const Table t = parse_csv("x\n-9999\n1.000\n\"1,0\"\n2\n", ',', {"t.csv", reading});
  EXPECT_TRUE(std::isnan(t.find("x")->values[0]) && std::isnan(t.find("x")->values[2]));
  EXPECT_EQ(t.find("x")->values[1], 1000);  // not the mark 1
}

TEST(notation_advice, names_the_options_that_read_the_texts) {
  const auto advice = [](const std::vector<std::string>& texts) { return notation_advice(texts); };
  EXPECT_EQ(advice({"1,500", "2,250"}),
            "in a text file, fit `.thousands=,` reads '1,500' as 1500, `.decimal=,` as 1.5");
  EXPECT_EQ(advice({"12", "1,5"}), "in a text file, fit `.decimal=,` reads '1,5' as 1.5");
  EXPECT_EQ(advice({"1.234,5"}), "in a text file, fit `.thousands=.` `.decimal=,` reads '1.234,5' as 1234.5");
  EXPECT_EQ(advice({"1 234"}), "in a text file, fit `.thousands= ` reads '1 234' as 1234");
  for (const char* text : {"$1,500", "1.5", "red", "1,23,4"}) EXPECT_EQ(advice({text}), "") << text;
  EXPECT_NE(error_in_notation("x\n1\n2\n\"1,500\"\n", {}).find("fit `.thousands=,` reads '1,500' as 1500"),
            std::string::npos);
}

}  // namespace
}  // namespace slimbayes
