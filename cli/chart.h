#pragma once

#include <string>
#include <vector>

namespace slimbayes::cli {

/// One layer of a panel, drawn in order; x ascending for bands and lines.
struct Mark {
  enum class Kind { points, band, line } kind;
  std::string label;   // in the legend; empty: not in it
  std::string colour;  // "#2b6cb0"
  double opacity = 1;
  std::vector<double> x, y;
  std::vector<double> upper = {};  // of a band, whose lower side is y
  bool dashed = false;
  double size = 1.6;  // width of a line, radius of a point
};

struct Panel {
  std::string title, subtitle;
  std::vector<Mark> marks;
};

struct Extent {
  double low, high;
};

/// Panels side by side with shared axes and one legend, that of the panel with most labels.
struct Chart {
  std::string title, x_label, y_label;
  Extent x, y;  // what lies outside is cut off
  std::vector<Panel> panels;
};

/// A self-contained SVG image.
std::string svg(const Chart& chart);

}  // namespace slimbayes::cli
