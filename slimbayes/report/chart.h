#pragma once

#include <string>
#include <vector>

namespace slimbayes {

/// One graphic element of a panel. Marks are drawn in order, so that later ones cover earlier ones. The x
/// values of bands and lines must ascend.
struct Mark {
  /// points: circles at (x, y). line: a line through (x, y). band: the area from y to `upper`. ranges: a
  /// vertical line from y to `upper` at each x. bars: a histogram; bar i goes from x[i] to x[i + 1] and has
  /// the height y[i], so that x has one number more than y.
  enum class Kind { points, band, line, ranges, bars } kind;
  std::string label;   // its name in the legend; empty: not listed
  std::string colour;  // a name of ink_names() or a colour such as "#2b6cb0"
  double opacity = 1;
  std::vector<double> x, y;
  std::vector<double> upper = {};  // upper side of a band or of ranges; the lower side is y
  bool dashed = false;
  double size = 1.6;  // width of a line, radius of a point
};

/// One panel of a chart.
struct Panel {
  std::string title, subtitle;
  std::vector<Mark> marks;
};

/// The range of an axis.
struct Extent {
  double low, high;
};

/// A place on an axis with its text.
struct Tick {
  double at;
  std::string label;
};

/// Panels side by side with the same axes and one legend. The legend shows the labels of the panel with the
/// most labels.
struct Chart {
  std::string title, x_label, y_label;
  Extent x, y;  // ranges of the axes; marks outside are cut off
  std::vector<Panel> panels;
  std::vector<Tick> x_ticks = {};  // of every panel; empty: round numbers
};

/// Returns the names of the colours that a mark may have: "blue", "orange", ... In an image of its own they
/// have fixed values, in a page they are CSS variables of the same name.
std::vector<std::string> ink_names();

/// Returns the chart as a self-contained SVG image with a title and a white background.
std::string svg(const Chart& chart);

/// How a chart lies in an HTML page.
struct Inset {
  std::string id;      // of the chart, unique in the page: letters and digits
  double width = 480;  // of the whole image, in the page's pixels at its full size
  double height = 310;
};

/// Returns the chart as an SVG element for a page, whose style sheet must contain chart_style(). It has no
/// background and shows no title, but the title is in it for readers that cannot see.
std::string inset_svg(const Chart& chart, const Inset& inset);

/// Returns the CSS rules of the elements of inset_svg(). They use the variables --text, --muted, --line,
/// --ground and one for each of ink_names().
std::string chart_style();

/// Returns why the range of an axis cannot be drawn; "" if it can. Its ends may be too far apart, so that
/// their difference overflows, or so close that only rounding tells the values between them apart. A chart of
/// such a range says so instead of its marks.
std::string undrawable(Extent extent);

/// Returns round numbers within the range for about `count` ticks: multiples of 1, 2 or 5 times a power of
/// ten; none for a range that cannot be drawn.
std::vector<double> round_ticks(Extent extent, int count = 5);

/// Returns the text as printable() makes it safe to show, with the characters that XML reserves replaced by
/// entities.
std::string xml_escaped(const std::string& text);

}  // namespace slimbayes
