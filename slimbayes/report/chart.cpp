// Draws a chart as SVG text: panels side by side, shared axes with ticks at 1, 2 or 5 times a power of ten,
// and one legend below. Coordinates are rounded to a tenth of a pixel to keep files small. The viewer clips
// everything outside a panel.
//
// The same drawing serves two places. An image of its own has fixed colours, because many viewers know no CSS
// variables. In a page the colours are variables, so that the page's dark and light themes reach the charts.
#include "slimbayes/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/report/chart_marks.h"

namespace slimbayes {
namespace {

constexpr double kWidth = 330, kHeight = 250;  // size of a panel of an image of its own, in pixels
constexpr double kLeft = 62, kTop = 78, kGap = 18, kBottom = 92, kRight = 20;
constexpr double kInsetRight = 14, kInsetBottom = 48;
constexpr double kLegendLine = 18, kCharacter = 6.6, kTickCharacter = 6.3;

/// Where the panels lie in the image, in pixels.
struct Layout {
  double left, top, width, height, gap;  // of a panel; gap between two
  int x_ticks = 5, y_ticks = 5;          // about how many
  std::string id = "";                   // prefix of the ids of the clip paths
};

/// The ticks of an axis and its name.
struct Axis {
  std::vector<Tick> ticks;
  std::string label;
};

/// Returns the ticks with their distances from `base` as texts of six digits.
std::vector<Tick> labelled(const std::vector<double>& at, double base) {
  std::vector<Tick> ticks;
  for (double value : at) {
    const double shown = value - base;
    const bool zero = at.size() > 1 && std::abs(shown) < 1e-9 * (at[1] - at[0]);
    ticks.push_back({value, fmt::format("{:g}", zero ? 0.0 : shown)});
  }
  return ticks;
}

/// Returns an axis with round ticks. If six digits do not tell them apart, as between 2^53 and 2^53 + 100,
/// the ticks count from the first, and the name of the axis says so: "x - 9007199254740992".
Axis round_axis(Extent extent, int count, const std::string& label) {
  const std::vector<double> at = round_ticks(extent, count);
  const std::vector<Tick> ticks = labelled(at, 0);
  if (std::ranges::adjacent_find(ticks, {}, &Tick::label) == ticks.end()) return {ticks, label};
  return {labelled(at, at[0]), fmt::format("{} {} {}", label, at[0] < 0 ? '+' : '-', std::abs(at[0]))};
}

std::string axes(const PanelFrame& frame, const std::vector<Tick>& x_ticks, const std::vector<Tick>& y_ticks,
                 bool first) {
  const double bottom = frame.top + frame.height;
  std::string out =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:g}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"ground\"/>\n",
                  frame.left, frame.top, frame.width, frame.height);
  for (const Tick& tick : x_ticks) {
    const double x = frame.px(tick.at);
    out += fmt::format("<path d=\"M{0:.1f} {1:g}V{2:.1f}\" class=\"grid\"/>\n", x, frame.top, bottom);
    out += text_at(x, bottom + 17, tick.label, "tick");
  }
  for (const Tick& tick : y_ticks) {
    const double y = frame.py(tick.at);
    out += fmt::format("<path d=\"M{0:.1f} {1:.1f}h{2:.1f}\" class=\"grid\"/>\n", frame.left, y, frame.width);
    if (first) out += text_at(frame.left - 7, y + 4, tick.label, "tick", "end");
  }
  return out;
}

double legend_width(const Mark& mark) {
  return 34 + kCharacter * static_cast<double>(mark.label.size()) + 22;
}

/// Returns the marks that the legend lists, in lines that are no wider than `room`: those of the panel with
/// the most labels.
std::vector<std::vector<const Mark*>> legend_lines(const Chart& chart, double room) {
  std::vector<std::vector<const Mark*>> lines;
  if (chart.panels.empty()) return lines;
  const auto labels = [](const Panel& panel) {
    return std::ranges::count_if(panel.marks, [](const Mark& mark) { return !mark.label.empty(); });
  };
  double used = 0;
  for (const Mark& mark : std::ranges::max_element(chart.panels, {}, labels)->marks) {
    if (mark.label.empty()) continue;
    if (lines.empty() || used + legend_width(mark) > room) {
      lines.emplace_back();
      used = 0;
    }
    used += legend_width(mark);
    lines.back().push_back(&mark);
  }
  return lines;
}

/// Returns the legend as SVG, its lines centred at x = `centre`. The last line lies at `y`.
std::string legend(const std::vector<std::vector<const Mark*>>& lines, double centre, double y) {
  std::string out;
  y -= kLegendLine * static_cast<double>(lines.size());
  for (const std::vector<const Mark*>& line : lines) {
    y += kLegendLine;
    double total = -22;
    for (const Mark* mark : line) total += legend_width(*mark);
    double x = centre - total / 2;
    for (const Mark* mark : line) {
      out += swatch(*mark, x, y) + text_at(x + 34, y, mark->label, "key", "start");
      x += legend_width(*mark);
    }
  }
  return out;
}

/// Returns a panel of a chart one of whose axes cannot be drawn: the reason instead of the marks.
std::string reason(const Chart& chart, const PanelFrame& frame) {
  const bool x = !undrawable(chart.x).empty();
  const Extent extent = x ? chart.x : chart.y;
  const std::string lines[] = {fmt::format("not drawn: the {} axis has", x ? "horizontal" : "vertical"),
                               fmt::format("{} to {},", extent.low, extent.high), undrawable(extent)};
  std::string out;
  double y = frame.top + frame.height / 2 - kLegendLine;
  for (const std::string& line : lines) {
    out += text_at(frame.left + frame.width / 2, y, line, "label");
    y += kLegendLine;
  }
  return out;
}

/// Returns the panels of the chart with their axes and labels.
std::string panels(const Chart& chart, const Layout& layout) {
  std::string out;
  const bool drawable = undrawable(chart.x).empty() && undrawable(chart.y).empty();
  Axis x = round_axis(chart.x, layout.x_ticks, chart.x_label);
  const Axis y = round_axis(chart.y, layout.y_ticks, chart.y_label);
  if (!chart.x_ticks.empty()) x = {chart.x_ticks, chart.x_label};
  for (size_t i = 0; i < chart.panels.size(); ++i) {
    const Panel& panel = chart.panels[i];
    const PanelFrame frame{layout.left + static_cast<double>(i) * (layout.width + layout.gap),
                           layout.top,
                           layout.width,
                           layout.height,
                           chart.x,
                           chart.y};
    const double middle = frame.left + frame.width / 2;
    const std::string box = fmt::format("x=\"{:.1f}\" y=\"{:g}\" width=\"{:.1f}\" height=\"{:.1f}\"",
                                        frame.left, frame.top, frame.width, frame.height);
    out += text_at(middle, frame.top - 24, panel.title, "panel");
    out += text_at(middle, frame.top - 8, panel.subtitle, "sub");
    out += drawable ? axes(frame, x.ticks, y.ticks, i == 0) : reason(chart, frame);
    out += fmt::format("<clipPath id=\"{}panel{}\"><rect {}/></clipPath>\n", layout.id, i, box);
    out += fmt::format("<g clip-path=\"url(#{}panel{})\">\n", layout.id, i);
    if (drawable)
      for (const Mark& mark : panel.marks) out += drawn(mark, frame);
    out += fmt::format("</g>\n<rect {} class=\"frame\"/>\n", box);
    out += text_at(middle, frame.top + frame.height + 38, x.label, "label");
  }
  out += fmt::format(
      "<text transform=\"translate(15 {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
      "class=\"label\">{}</text>\n",
      layout.top + layout.height / 2, xml_escaped(y.label));
  return out;
}

/// Returns the room that the labels of the y axis need at the left of the first panel.
double left_room(const Chart& chart, int ticks) {
  size_t longest = 1;
  for (const Tick& tick : round_axis(chart.y, ticks, "").ticks)
    longest = std::max(longest, tick.label.size());
  return 34 + kTickCharacter * static_cast<double>(longest);
}

constexpr const char* kStyle =
    "text{font-family:system-ui,'Helvetica Neue',Arial,sans-serif;fill:#2d3748}"
    ".title{font-size:17px;font-weight:600}.panel{font-size:14px;font-weight:600}.sub{font-size:11.5px;fill:#"
    "718096}"
    ".tick{font-size:11px;fill:#718096}.label{font-size:12.5px}.key{font-size:12px}"
    ".ground{fill:#fbfcfd}.frame{fill:none;stroke:#a0aec0}.grid{stroke:#e6ebf1;fill:none}";

}  // namespace

std::string undrawable(Extent extent) {
  constexpr double kFewestSteps = 32;  // numbers of double precision between the ends; a tick needs some
  const double span = extent.high - extent.low, far = std::max(std::abs(extent.low), std::abs(extent.high));
  if (!std::isfinite(span)) return "too far apart for a number of double precision";
  const double step = far - std::nextafter(far, 0.0);
  if (span >= kFewestSteps * step && span > 0) return "";
  return "too close: rounding would place the marks";
}

std::vector<double> round_ticks(Extent extent, int count) {
  if (!undrawable(extent).empty()) return {};
  const double span = extent.high - extent.low, raw = span / count,
               power = std::pow(10, std::floor(std::log10(raw)));
  const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  const double first = std::ceil(extent.low / step - 1e-9);
  std::vector<double> at;
  for (int i = 0; i < 2 * count && extent.high - (first + i) * step >= -1e-9 * span; ++i)
    at.push_back((first + i) * step);
  return at;
}

std::string svg(const Chart& chart) {
  const auto count = static_cast<double>(chart.panels.size());
  const double left = std::max(kLeft, left_room(chart, 5));
  const double width = left + count * kWidth + (count - 1) * kGap + kRight, height = kTop + kHeight + kBottom;
  std::string style = kStyle;
  for (const Ink& ink : inks())
    style += fmt::format(".fill-{0}{{fill:{1}}}.stroke-{0}{{stroke:{1}}}", ink.name, ink.value);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" role=\"img\">\n"
      "<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<style>{3}</style>\n",
      width, height, xml_escaped(chart.title), style);
  out += text_at(width / 2, 28, chart.title, "title");
  out += panels(chart, {left, kTop, kWidth, kHeight, kGap});
  out += legend(legend_lines(chart, 1e9), width / 2, height - 20);
  return out + "</svg>\n";
}

std::string inset_svg(const Chart& chart, const Inset& inset) {
  const auto count = static_cast<double>(chart.panels.size());
  Layout layout{0, 10, 0, 0, kGap, inset.width < 400 ? 4 : inset.width > 700 ? 8 : 5, 5, inset.id};
  layout.left = left_room(chart, layout.y_ticks);
  const bool titled = std::ranges::any_of(chart.panels, [](const Panel& p) { return !p.title.empty(); });
  const bool subtitled =
      std::ranges::any_of(chart.panels, [](const Panel& p) { return !p.subtitle.empty(); });
  if (titled || subtitled) layout.top = titled ? 42 : 26;
  const auto lines = legend_lines(chart, inset.width - 20);
  const double legend_height = lines.empty() ? 0 : kLegendLine * static_cast<double>(lines.size()) + 8;
  layout.width = (inset.width - layout.left - kInsetRight - (count - 1) * kGap) / count;
  layout.height = inset.height - layout.top - kInsetBottom - legend_height;
  return fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\">\n<title>{}</title>\n",
                     inset.width, inset.height, xml_escaped(chart.title)) +
         panels(chart, layout) + legend(lines, inset.width / 2, inset.height - 8) + "</svg>\n";
}

std::string chart_style() {
  std::string style =
      ".chart text{fill:var(--text);font-size:12.5px}.chart .tick{font-size:11.5px;fill:var(--muted)}"
      ".chart .sub{font-size:12px;fill:var(--muted)}.chart .panel{font-size:13.5px;font-weight:600}"
      ".chart .key{font-size:12px}.chart .ground{fill:var(--ground)}"
      ".chart .frame{fill:none;stroke:var(--line)}.chart .grid{stroke:var(--line);fill:none;opacity:.6}\n";
  for (const Ink& ink : inks())
    style += fmt::format(".fill-{0}{{fill:var(--{0})}}.stroke-{0}{{stroke:var(--{0})}}", ink.name);
  return style + "\n";
}

}  // namespace slimbayes
