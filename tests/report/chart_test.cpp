#include "slimbayes/report/chart.h"

#include <gtest/gtest.h>

#include "slimbayes/report/figure_parts.h"
#include "slimbayes/report/time_ticks.h"

namespace slimbayes {
namespace {

Chart chart_of(std::vector<Mark> marks) {
  return {"title <&>", "x", "y", {0, 10}, {0, 1}, {{"", "", std::move(marks)}}};
}

TEST(round_ticks, AreMultiplesOfOneTwoOrFive) {
  EXPECT_EQ(round_ticks({0, 10}), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks({0, 1}, 2), (std::vector<double>{0, 0.5, 1}));
}

TEST(svg, IsSelfContainedAndHasFixedColours) {
  const std::string image = svg(chart_of({{Mark::Kind::line, "a", "blue", 1, {0, 10}, {0, 1}}}));
  EXPECT_NE(image.find(".stroke-blue{stroke:#2b6cb0}"), std::string::npos);
  EXPECT_NE(image.find("xmlns=\"http://www.w3.org/2000/svg\""), std::string::npos);
  EXPECT_EQ(image.find("var("), std::string::npos);
  EXPECT_NE(image.find("title &lt;&amp;&gt;"), std::string::npos);
}

TEST(inset_svg, LeavesItsColoursToThePage) {
  const std::string image =
      inset_svg(chart_of({{Mark::Kind::bars, "bars", "blue", 1, {0, 5, 10}, {1, 0.5}},
                          {Mark::Kind::ranges, "ranges", "grey", 1, {1, 2}, {0, 0}, {1, 1}}}),
                {"one"});
  EXPECT_EQ(image.find('#'), image.find("#onepanel0"));
  EXPECT_NE(image.find("class=\"fill-blue\""), std::string::npos);
  EXPECT_NE(image.find("class=\"stroke-grey\""), std::string::npos);
  for (const std::string& ink : ink_names())
    EXPECT_NE(chart_style().find(".fill-" + ink + "{fill:var(--" + ink + ")}"), std::string::npos);
}

TEST(time_ticks, AreWholeHoursDaysAndMonths) {
  const double day = 86400, start = 1262304000;  // 2010-01-01
  const auto labels = [&](double days) {
    std::string text;
    for (const Tick& tick : time_ticks({start, start + days * day}, 6)) text += tick.label + ";";
    return text;
  };
  EXPECT_EQ(labels(0.9), "1 Jan;06:00;12:00;18:00;");
  EXPECT_EQ(labels(4), "1 Jan;2 Jan;3 Jan;4 Jan;5 Jan;");
  EXPECT_EQ(labels(150), "Jan 2010;Feb 2010;Mar 2010;Apr 2010;May 2010;");
  EXPECT_EQ(labels(365.25 * 4), "2010;2011;2012;2013;2014;");
  EXPECT_TRUE(time_ticks({0, 1e30}, 6).empty());
  EXPECT_EQ(years_text({start, start + 400 * day}), "2010 to 2011");
}

TEST(shortened_text, CutsAtCharacters) {
  EXPECT_EQ(shortened_text("abc", 3), "abc");
  EXPECT_EQ(shortened_text("abcd", 3), "ab\u2026");
  EXPECT_EQ(shortened_text("\u00e4\u00f6\u00fc\u00df", 3), "\u00e4\u00f6\u2026");
}

}  // namespace
}  // namespace slimbayes
