#include "slimbayes/data/table/looks.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(meant_as, numbers_and_dates_in_other_clothes) {
  const auto meant = [](std::vector<std::string> cells) { return std::string(meant_as(cells).as); };
  EXPECT_EQ(meant({"1,000", "13,500", "900"}), "numbers");
  EXPECT_EQ(meant({"$5", "€ 7.50", "£1"}), "numbers");
  EXPECT_EQ(meant({"45%", "3,5"}), "numbers");
  EXPECT_EQ(meant({"31.12.2021", "1.1.2022 10:30"}), "dates");
  EXPECT_EQ(meant({"12/31/2021", "1/2/22"}), "dates");
  EXPECT_EQ(meant({"red", "1,000"}), "");
  EXPECT_EQ(meant({"A1", "B2"}), "");
  EXPECT_EQ(meant({"10", "20"}), "");
  EXPECT_EQ(meant({"2021-01-01", "2021-01-02"}), "");
  EXPECT_EQ(meant({"%", ","}), "");
  EXPECT_EQ(meant({}), "");
  EXPECT_EQ(meant({"1.234,50", "1.234.567,89"}), "numbers");
  EXPECT_EQ(meant({"(1,200)", "1'300", "CHF 5"}), "numbers");
  EXPECT_EQ(meant({"\"1.5\"", "\"2\""}), "numbers");
  EXPECT_EQ(meant({"192.168.1.10", "10.0.0.1"}), "");
  EXPECT_EQ(meant({"31 Dec 2021", "3-Jan-2022", "March 3, 2022"}), "dates");
  EXPECT_EQ(meant({"2021/12/31", "2021/1/2 10:00"}), "dates");
  EXPECT_EQ(meant({"2021-03", "Mar 2021", "12/2021"}), "dates");
  EXPECT_EQ(meant({"8:30", "23:59:59", "11:15 PM"}), "times");
  EXPECT_EQ(meant({"\u22121.5", "2.5"}), "numbers");
  EXPECT_EQ(meant({"1.2.3", "1.3.0"}), "");
  EXPECT_EQ(meant({"078-05-1120"}), "");
  EXPECT_EQ(meant({"1 Market St", "2 May Road"}), "");
}

TEST(meant_as, shows_a_cell_that_looks_so) {
  const std::vector<std::string> cells = {"unknown", "12", "$13", "$14"};
  EXPECT_EQ(meant_as(cells).as, "");
  EXPECT_EQ(meant_as(cells, 0.5).as, "numbers");
  EXPECT_EQ(meant_as(cells, 0.5).example, "$13");
}

TEST(lookalikes, differ_by_case_or_blanks_alone) {
  const std::vector<std::string> levels = {"Colonial",  "New York",       "colonial",
                                           "New  York", "new\u00a0york ", "Ranch"};
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"Colonial", "colonial"}, {"New York", "New  York"}, {"New York", "new\u00a0york "}};
  EXPECT_EQ(lookalikes(levels), pairs);
  EXPECT_TRUE(lookalikes({}).empty());
  const std::vector<std::string> apart = {"a b", "ab", "a-b"};
  EXPECT_TRUE(lookalikes(apart).empty());
}

TEST(unit_of, is_the_word_after_a_number) {
  const std::vector<std::pair<const char*, const char*>> cells = {
      {"144 km", "km"}, {"5kg", "kg"}, {"-3 °C", "°C"}, {"+1.5e3 m/s", "m/s"}, {"12 m2", "m2"}};
  for (const auto& [cell, unit] : cells) EXPECT_EQ(unit_of(cell), unit) << cell;
  for (const char* cell :
       {"144", "km", "information", "0x1F", "2020-01-01", "3 old cars", "", "-", "1 2", "+inf"})
    EXPECT_EQ(unit_of(cell), "") << cell;
}

TEST(with_common_unit, needs_one_unit_in_half_of_the_levels) {
  const auto example = [](std::vector<std::string> levels) { return with_common_unit(levels); };
  EXPECT_EQ(example({"unknown", "12 km", "13 km", "14 km", "15"}), "12 km");
  EXPECT_EQ(example({"12 km", "13 km", "14", "15", "16"}), "");
  EXPECT_EQ(example({"1st", "2nd", "3rd", "4th"}), "");
  EXPECT_EQ(example({"2D", "3D"}), "");
}

TEST(among_numbers, one_or_two_marks_in_a_column_of_numbers) {
  std::vector<std::string> levels = {"-"};
  for (int i = 0; i < 20; ++i) levels.push_back(std::to_string(i) + ".5");
  EXPECT_EQ(among_numbers(levels), (std::vector<std::string>{"-"}));
  levels.insert(levels.end(), {"a", "b"});
  EXPECT_TRUE(among_numbers(levels).empty());
  EXPECT_TRUE(among_numbers(std::vector<std::string>{"1", "2", "K"}).empty());
}

}  // namespace
}  // namespace slimbayes
