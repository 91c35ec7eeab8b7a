#pragma once

#include <string>
#include <vector>

namespace slimbayes::cli {

/// One graphic element of a panel: points, a band or a line. Marks are drawn in order, so that later ones
/// cover earlier ones. The x values of bands and lines must ascend.
struct Mark {
  enum class Kind { points, band, line } kind;
  std::string label;   // its name in the legend; empty: not listed
  std::string colour;  // such as "#2b6cb0"
  double opacity = 1;
  std::vector<double> x, y;
  std::vector<double> upper = {};  // upper side of a band; its lower side is y
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

/// Panels side by side with the same axes and one legend. The legend shows the labels of the panel with the
/// most labels.
struct Chart {
  std::string title, x_label, y_label;
  Extent x, y;  // ranges of the axes; marks outside are cut off
  std::vector<Panel> panels;
};

/// Returns the chart as a self-contained SVG image.
std::string svg(const Chart& chart);

}  // namespace slimbayes::cli
