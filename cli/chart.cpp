// Draws a chart as SVG text: panels side by side, shared axes with ticks at 1, 2 or 5 times a power of ten,
// and one legend below. Coordinates are rounded to a tenth of a pixel to keep files small. The viewer clips
// everything outside a panel.
#include "cli/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace slimbayes::cli {
namespace {

constexpr double kWidth = 330, kHeight = 250;  // size of a panel, in pixels
constexpr double kLeft = 62, kTop = 78, kGap = 18, kBottom = 92, kRight = 20;

struct Frame {
  double left;  // left edge of the panel, in pixels
  Extent x, y;

  double px(double value) const { return left + (value - x.low) / (x.high - x.low) * kWidth; }
  double py(double value) const { return kTop + kHeight - (value - y.low) / (y.high - y.low) * kHeight; }
  // Returns the SVG coordinates "x,y" of a data point. Values far outside the panel are clamped, because some
  // viewers cannot handle large numbers.
  std::string at(double a, double b) const {
    return fmt::format("{:.1f},{:.1f}", std::clamp(px(a), -1e4, 1e4), std::clamp(py(b), -1e4, 1e4));
  }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

std::string text_at(double x, double y, const std::string& text, const std::string& style,
                    const char* anchor = "middle") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y,
                     anchor, style, escaped(text));
}

std::vector<double> ticks(Extent extent) {
  const double span = extent.high - extent.low, raw = span / 5,
               power = std::pow(10, std::floor(std::log10(raw)));
  const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  std::vector<double> at;
  for (double i = std::ceil(extent.low / step - 1e-9); i * step <= extent.high + 1e-9 * span; ++i)
    at.push_back(i * step);
  return at;
}

std::string tick_label(double value) { return fmt::format("{:g}", std::abs(value) < 1e-12 ? 0.0 : value); }

std::string stroke(const Mark& mark) {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-opacity=\"{:g}\" stroke-width=\"{:g}\"{}",
                     mark.colour, mark.opacity, mark.size, mark.dashed ? " stroke-dasharray=\"6 4\"" : "");
}

std::string drawn(const Mark& mark, const Frame& frame) {
  std::string path;
  if (mark.kind == Mark::Kind::points) {
    for (size_t i = 0; i < mark.x.size(); ++i) {
      path += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\"/>", frame.px(mark.x[i]),
                          frame.py(mark.y[i]), mark.size);
    }
    return fmt::format("<g fill=\"{}\" fill-opacity=\"{:g}\">{}</g>\n", mark.colour, mark.opacity, path);
  }
  for (size_t i = 0; i < mark.x.size(); ++i) path += frame.at(mark.x[i], mark.y[i]) + " ";
  if (mark.kind == Mark::Kind::line) return fmt::format("<polyline points=\"{}\" {}/>\n", path, stroke(mark));
  for (size_t i = mark.x.size(); i-- > 0;) path += frame.at(mark.x[i], mark.upper[i]) + " ";
  return fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{:g}\"/>\n", path, mark.colour,
                     mark.opacity);
}

std::string axes(const Frame& frame, bool first) {
  std::string out =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" class=\"ground\"/>\n",
                  frame.left, kTop, kWidth, kHeight);
  for (double value : ticks(frame.x)) {
    const double x = frame.px(value);
    out += fmt::format("<path d=\"M{0:.1f} {1:g}V{2:g}\" class=\"grid\"/>\n", x, kTop, kTop + kHeight);
    out += text_at(x, kTop + kHeight + 17, tick_label(value), "tick");
  }
  for (double value : ticks(frame.y)) {
    const double y = frame.py(value);
    out += fmt::format("<path d=\"M{0:.1f} {1:.1f}h{2:g}\" class=\"grid\"/>\n", frame.left, y, kWidth);
    if (first) out += text_at(frame.left - 7, y + 4, tick_label(value), "tick", "end");
  }
  return out;
}

std::string swatch(const Mark& mark, double x, double y) {
  if (mark.kind == Mark::Kind::points) {
    return fmt::format("<circle cx=\"{:g}\" cy=\"{:g}\" r=\"3\" fill=\"{}\"/>\n", x + 13, y - 4, mark.colour);
  }
  if (mark.kind == Mark::Kind::line)
    return fmt::format("<path d=\"M{:g} {:g}h26\" {}/>\n", x, y - 4, stroke(mark));
  return fmt::format(
      "<rect x=\"{:g}\" y=\"{:g}\" width=\"26\" height=\"11\" fill=\"{}\" fill-opacity=\"{:g}\"/>\n", x,
      y - 10, mark.colour, mark.opacity);
}

/// Returns the legend as SVG, centred at x = `centre`. It shows the labels of the panel with the most labels.
std::string legend(const std::vector<Panel>& panels, double centre, double y) {
  const auto labels = [](const Panel& panel) {
    return std::ranges::count_if(panel.marks, [](const Mark& mark) { return !mark.label.empty(); });
  };
  const Panel& panel = *std::ranges::max_element(panels, {}, labels);
  const auto width = [](const Mark& mark) { return 34 + 6.6 * static_cast<double>(mark.label.size()) + 22; };
  double total = 0;
  for (const Mark& mark : panel.marks) total += mark.label.empty() ? 0 : width(mark);
  std::string out;
  double x = centre - total / 2;
  for (const Mark& mark : panel.marks) {
    if (mark.label.empty()) continue;
    out += swatch(mark, x, y) + text_at(x + 34, y, mark.label, "key", "start");
    x += width(mark);
  }
  return out;
}

constexpr const char* kStyle =
    "<style>text{font-family:system-ui,'Helvetica Neue',Arial,sans-serif;fill:#2d3748}"
    ".title{font-size:17px;font-weight:600}.panel{font-size:14px;font-weight:600}.sub{font-size:11.5px;fill:#"
    "718096}"
    ".tick{font-size:11px;fill:#718096}.label{font-size:12.5px}.key{font-size:12px}"
    ".ground{fill:#fbfcfd}.frame{fill:none;stroke:#a0aec0}.grid{stroke:#e6ebf1;fill:none}</style>\n";

}  // namespace

std::string svg(const Chart& chart) {
  const auto count = static_cast<double>(chart.panels.size());
  const double width = kLeft + count * kWidth + (count - 1) * kGap + kRight,
               height = kTop + kHeight + kBottom;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" role=\"img\">\n"
      "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height, escaped(chart.title));
  out += kStyle + text_at(width / 2, 28, chart.title, "title");
  for (size_t i = 0; i < chart.panels.size(); ++i) {
    const Panel& panel = chart.panels[i];
    const Frame frame{kLeft + static_cast<double>(i) * (kWidth + kGap), chart.x, chart.y};
    const std::string box = fmt::format("x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"", frame.left,
                                        kTop, kWidth, kHeight);
    out += text_at(frame.left + kWidth / 2, kTop - 24, panel.title, "panel");
    out += text_at(frame.left + kWidth / 2, kTop - 8, panel.subtitle, "sub");
    out += axes(frame, i == 0) + fmt::format("<clipPath id=\"panel{}\"><rect {}/></clipPath>\n", i, box);
    out += fmt::format("<g clip-path=\"url(#panel{})\">\n", i);
    for (const Mark& mark : panel.marks) out += drawn(mark, frame);
    out += fmt::format("</g>\n<rect {} class=\"frame\"/>\n", box);
    out += text_at(frame.left + kWidth / 2, kTop + kHeight + 38, chart.x_label, "label");
  }
  out += fmt::format(
      "<text transform=\"translate(18 {:g}) rotate(-90)\" text-anchor=\"middle\" class=\"label\">{}</text>\n",
      kTop + kHeight / 2, escaped(chart.y_label));
  if (!chart.panels.empty()) out += legend(chart.panels, width / 2, height - 20);
  return out + "</svg>\n";
}

}  // namespace slimbayes::cli
