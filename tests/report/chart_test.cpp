#include "slimbayes/report/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

// A counter of doubles does not grow beyond 2^53: the ticks of 0.3 to 0.1 + 0.2 had no end.
TEST(round_ticks, AreAFewAscendingNumbersForEveryRange) {
  constexpr double kMost = std::numeric_limits<double>::max(),
                   kLeast = std::numeric_limits<double>::denorm_min();
  const double two53 = 9007199254740992;
  for (const Extent extent : {Extent{0.3, 0.1 + 0.2},
                              {-0.1 - 0.2, -0.3},
                              {1, 1 + 2.3e-16},
                              {two53, two53 + 2},
                              {two53, two53 + 20},
                              {two53, two53 + 300},
                              {1e16, 1e16 + 4},
                              {1e16, 1e16 + 64},
                              {-1e16, 1e16},
                              {1e300, 1e300 * (1 + 1e-14)},
                              {0, kLeast},
                              {-kLeast, 40 * kLeast},
                              {0, 1e-310},
                              {1e-310, 3e-310},
                              {-1e308, 1e308},
                              {-kMost, kMost},
                              {0, kMost},
                              {kMost / 2, kMost},
                              {0, HUGE_VAL},
                              {-HUGE_VAL, HUGE_VAL},
                              {NAN, 1},
                              {NAN, NAN},
                              {2, 2},
                              {0, 0},
                              {3, 1}}) {
    for (int count : {2, 4, 5, 8, 9}) {
      const std::vector<double> ticks = round_ticks(extent, count);
      EXPECT_LE(ticks.size(), 2 * static_cast<size_t>(count)) << extent.low << " to " << extent.high;
      for (size_t i = 1; i < ticks.size(); ++i) EXPECT_GT(ticks[i], ticks[i - 1]);
      EXPECT_EQ(ticks.empty(), !undrawable(extent).empty()) << extent.low << " to " << extent.high;
    }
  }
  EXPECT_EQ(undrawable({two53, two53 + 300}), "");
  EXPECT_EQ(undrawable({0, 1e-310}), "");
  EXPECT_EQ(undrawable({0, kMost}), "");
}

TEST(inset_svg, SaysWhyARangeIsNotDrawn) {
  const auto drawn = [](Extent x, Extent y) {
    const Mark mark{Mark::Kind::points, "", "blue", 1, {x.low, x.high}, {y.low, y.high}};
    return inset_svg({"title", "x", "y", x, y, {{"", "", {mark}}}}, {"one"});
  };
  EXPECT_EQ(drawn({0, 1}, {0, 1}).find("not drawn"), std::string::npos);
  const std::string close = drawn({0.3, 0.1 + 0.2}, {0, 1});
  EXPECT_NE(close.find("not drawn: the horizontal axis has"), std::string::npos);
  EXPECT_NE(close.find("0.3 to 0.30000000000000004,"), std::string::npos);
  EXPECT_NE(close.find("too close: rounding would place the marks"), std::string::npos);
  const std::string far = drawn({0, 1}, padded({-1e308, 1e308}));
  EXPECT_NE(far.find("not drawn: the vertical axis has"), std::string::npos);
  EXPECT_NE(far.find("-1e+308 to 1e+308,"), std::string::npos);
  EXPECT_NE(far.find("too far apart for a number of double precision"), std::string::npos);
  for (const std::string& image : {close, far}) {
    EXPECT_EQ(image.find("nan"), std::string::npos);
    EXPECT_EQ(image.find("<circle"), std::string::npos);
  }
}

TEST(inset_svg, CountsFromTheFirstTickIfSixDigitsAreTooFew) {
  const Mark mark{Mark::Kind::points, "", "blue", 1, {1000000.5}, {0.5}};
  const std::string image =
      inset_svg({"title", "x", "y", {1000000, 1000001}, {-1e-310, 1e-310}, {{"", "", {mark}}}}, {"one"});
  EXPECT_NE(image.find(">x - 1000000<"), std::string::npos);
  for (const char* label : {">0.2<", ">0.8<", ">-5e-311<", ">0<"})
    EXPECT_NE(image.find(label), std::string::npos) << label;
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
