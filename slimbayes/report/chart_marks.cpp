#include "slimbayes/report/chart_marks.h"

#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

constexpr Ink kInks[] = {{"blue", "#2b6cb0"},   {"orange", "#dd6b20"}, {"green", "#2f855a"},
                         {"purple", "#805ad5"}, {"grey", "#718096"},   {"red", "#c53030"}};

/// Returns the attribute that gives a colour to the property "fill" or "stroke".
std::string paint(const char* property, const std::string& colour) {
  if (colour.starts_with("#")) return fmt::format("{}=\"{}\"", property, colour);
  return fmt::format("class=\"{}-{}\"", property, colour);
}

std::string stroke(const Mark& mark) {
  return fmt::format("fill=\"none\" {} stroke-opacity=\"{:g}\" stroke-width=\"{:g}\"{}",
                     paint("stroke", mark.colour), mark.opacity, mark.size,
                     mark.dashed ? " stroke-dasharray=\"6 4\"" : "");
}

std::string filled(const Mark& mark) {
  return fmt::format("{} fill-opacity=\"{:g}\"", paint("fill", mark.colour), mark.opacity);
}

/// Returns the bars of a histogram as one path, with a gap of a pixel between wide bars.
std::string bars(const Mark& mark, const PanelFrame& frame) {
  std::string path;
  const double floor = frame.near_y(std::max(frame.y.low, 0.0));
  for (size_t i = 0; i < mark.y.size(); ++i) {
    const double left = frame.near_x(mark.x[i]), right = frame.near_x(mark.x[i + 1]);
    const double gap = right - left > 4 ? 0.5 : 0;
    if (mark.y[i] == 0) continue;
    path += fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}V{:.1f}z", left + gap, floor, frame.near_y(mark.y[i]),
                        right - gap, floor);
  }
  return fmt::format("<path d=\"{}\" {}/>\n", path, filled(mark));
}

}  // namespace

std::span<const Ink> inks() { return kInks; }

std::vector<std::string> ink_names() {
  std::vector<std::string> names;
  for (const Ink& ink : kInks) names.emplace_back(ink.name);
  return names;
}

std::string text_at(double x, double y, const std::string& text, const std::string& style,
                    const char* anchor) {
  if (text.empty()) return "";
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y,
                     anchor, style, xml_escaped(text));
}

std::string drawn(const Mark& mark, const PanelFrame& frame) {
  std::string path;
  if (mark.kind == Mark::Kind::bars) return bars(mark, frame);
  if (mark.kind == Mark::Kind::points) {
    for (size_t i = 0; i < mark.x.size(); ++i) {
      path += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\"/>", frame.near_x(mark.x[i]),
                          frame.near_y(mark.y[i]), mark.size);
    }
    return fmt::format("<g {}>{}</g>\n", filled(mark), path);
  }
  if (mark.kind == Mark::Kind::ranges) {
    for (size_t i = 0; i < mark.x.size(); ++i)
      path += fmt::format("M{}V{:.1f}", frame.at(mark.x[i], mark.y[i]), frame.near_y(mark.upper[i]));
    return fmt::format("<path d=\"{}\" {}/>\n", path, stroke(mark));
  }
  for (size_t i = 0; i < mark.x.size(); ++i) path += frame.at(mark.x[i], mark.y[i]) + " ";
  if (mark.kind == Mark::Kind::line) return fmt::format("<polyline points=\"{}\" {}/>\n", path, stroke(mark));
  for (size_t i = mark.x.size(); i-- > 0;) path += frame.at(mark.x[i], mark.upper[i]) + " ";
  return fmt::format("<polygon points=\"{}\" {}/>\n", path, filled(mark));
}

std::string swatch(const Mark& given, double x, double y) {
  Mark mark = given;
  if (mark.kind == Mark::Kind::ranges) mark.opacity = std::max(mark.opacity, 0.8);  // one line is thin
  if (mark.kind == Mark::Kind::points)
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" {}/>\n", x + 13, y - 4, filled(mark));
  if (mark.kind == Mark::Kind::ranges)
    return fmt::format("<path d=\"M{:.1f} {:.1f}v12\" {}/>\n", x + 13, y - 10, stroke(mark));
  if (mark.kind == Mark::Kind::line)
    return fmt::format("<path d=\"M{:.1f} {:.1f}h26\" {}/>\n", x, y - 4, stroke(mark));
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"26\" height=\"11\" {}/>\n", x, y - 10,
                     filled(mark));
}

std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text))
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

}  // namespace slimbayes
