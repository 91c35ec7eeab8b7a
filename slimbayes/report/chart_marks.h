#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "slimbayes/report/chart.h"

namespace slimbayes {

// How the marks of a chart become SVG.

/// A colour of marks: its name, and its value in an image of its own.
struct Ink {
  const char *name, *value;
};
std::span<const Ink> inks();

/// A panel in pixels, and the ranges of its axes. px and py give the place of a value.
struct PanelFrame {
  double left, top, width, height;  // of the panel, in pixels
  Extent x, y;

  double px(double value) const { return left + (value - x.low) / (x.high - x.low) * width; }
  double py(double value) const { return top + height - (value - y.low) / (y.high - y.low) * height; }
  // Values far outside the panel are clamped, because some viewers cannot handle large numbers.
  double near_x(double value) const { return std::clamp(px(value), -1e4, 1e4); }
  double near_y(double value) const { return std::clamp(py(value), -1e4, 1e4); }
  // Returns the SVG coordinates "x,y" of a data point.
  std::string at(double a, double b) const { return fmt::format("{:.1f},{:.1f}", near_x(a), near_y(b)); }
};

/// Returns a text as SVG; "" for an empty one. `style` is its class.
std::string text_at(double x, double y, const std::string& text, const std::string& style,
                    const char* anchor = "middle");

/// Returns a mark as SVG.
std::string drawn(const Mark& mark, const PanelFrame& frame);

/// Returns the sample of a mark that the legend shows, at the place (x, y).
std::string swatch(const Mark& mark, double x, double y);

}  // namespace slimbayes
