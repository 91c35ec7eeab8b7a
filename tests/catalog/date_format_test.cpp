#include "slimbayes/catalog/date_format.h"

#include <gtest/gtest.h>

#include "slimbayes/catalog/fit_checks.h"

namespace slimbayes {
namespace {

TEST(fault_of_date_format, finds_what_is_no_date) {
  for (const char* format :
       {"%d.%m.%Y", "%m/%d/%y %H:%M:%S", "%Y%m%d", "%b %Y", "%d %B %Y %I:%M %p", "%m%%%Y"})
    EXPECT_EQ(fault_of_date_format(format), "") << format;
  EXPECT_EQ(fault_of_date_format("%d.%m"), "no year");
  EXPECT_EQ(fault_of_date_format("%Y"), "no month");
  EXPECT_EQ(fault_of_date_format("dd.mm.yyyy"), "no year");
  EXPECT_EQ(fault_of_date_format("%d.%m.%Y %z"), "the field '%z'");
  EXPECT_EQ(fault_of_date_format("%d.%m.%Y%"), "the field '% '");
  EXPECT_EQ(fault_of_date_format("%b %m %Y"), "'%m' for a part given twice");
  EXPECT_EQ(fault_of_date_format("%m/%d/%Y %I:%M"), "'%I' without '%p'");
  EXPECT_EQ(fault_of_date_format("%m/%d/%Y %M"), "a time of day without its hours or minutes");
}

std::string refusal(const std::string& thousands, const std::string& decimal, const std::string& format) {
  FitOptions fit;
  fit.target = "y";
  fit.thousands = thousands;
  fit.decimal = decimal;
  fit.date_format = format;
  try {
    check_columns(fit, InputKind::table);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(check_columns, refuses_notations) {
  EXPECT_EQ(refusal(",", ".", ""), "");
  EXPECT_EQ(refusal(".", ",", "%d.%m.%Y"), "");
  EXPECT_EQ(refusal("", ",", ""), "");
  for (const auto& [thousands, decimal] :
       {std::pair{".", "."}, {",", ","}, {"_", "."}, {",,", "."}, {"", ";"}})
    EXPECT_NE(refusal(thousands, decimal, ""), "") << thousands << decimal;
  EXPECT_NE(refusal("", ".", "%d.%m").find("received no year in '%d.%m'"), std::string::npos);
}

}  // namespace
}  // namespace slimbayes
