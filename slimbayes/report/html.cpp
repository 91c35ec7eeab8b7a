#include "slimbayes/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/report/chart.h"

namespace slimbayes {

std::string element(std::string_view name, std::string_view cls, std::string_view inner) {
  const bool within_line = name == "bdi" || name == "span" || name == "strong" || name == "code";
  const std::string attribute = cls.empty() ? "" : fmt::format(" class=\"{}\"", cls);
  return fmt::format("<{0}{1}>{2}</{0}>{3}", name, attribute, inner, within_line ? "" : "\n");
}

std::string text_html(const std::string& text) {
  std::string out = xml_escaped(text);
  for (size_t at = 0; (at = out.find(" %", at)) != std::string::npos;) out.replace(at, 1, "&#160;");
  return out;
}

std::string text_element(std::string_view name, std::string_view cls, const std::string& text) {
  return element(name, cls, text_html(text));
}

std::string figure_html(const std::string& title, const std::string& says, const std::string& drawing,
                        const std::string& how, std::string_view cls) {
  std::string caption = text_element("h3", "", title);
  if (!says.empty()) caption += text_element("p", "says", says);
  return element("figure", cls,
                 element("figcaption", "", caption) +
                     (cls == "wide" ? element("div", "scroll", drawing) : drawing) +
                     (how.empty() ? "" : text_element("p", "how", how)));
}

std::string section_html(const std::string& id, const std::string& title, const std::string& inner) {
  return fmt::format("<section id=\"{}\">\n{}{}</section>\n", id, text_element("h2", "", title), inner);
}

std::string table_html(const std::vector<HtmlCell>& head, const std::vector<std::vector<HtmlCell>>& rows,
                       std::string_view cls) {
  const auto line = [](const std::vector<HtmlCell>& cells, std::string_view name) {
    std::string out;
    for (const HtmlCell& cell : cells) out += element(name, cell.number ? "number" : "", cell.inner);
    return element("tr", "", out);
  };
  std::string body;
  for (const auto& row : rows) body += line(row, "td");
  return element("div", "scroll",
                 element("table", cls, element("thead", "", line(head, "th")) + element("tbody", "", body)));
}

std::string bar_svg(double share, std::string_view colour) {
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect class=\"track\" width=\"100\" height=\"10\"/><rect class=\"fill-{}\" width=\"{:.1f}\" "
      "height=\"10\"/></svg>",
      colour, 100 * std::clamp(share, 0.0, 1.0));
}

std::string strip_svg(double share, double expected, double band_low, double band_high, double low) {
  constexpr double kWide = 116, kMargin = 6;
  const auto at = [&](double x) {
    return kMargin + (kWide - 2 * kMargin) * std::clamp((x - low) / (1 - low), 0.0, 1.0);
  };
  const bool inside = share >= band_low && share <= band_high;
  return fmt::format(
      "<svg class=\"strip\" viewBox=\"0 0 116 18\" width=\"116\" height=\"18\" aria-hidden=\"true\">"
      "<path class=\"axis\" d=\"M{:.1f} 9H{:.1f}\"/>"
      "<rect class=\"band\" x=\"{:.1f}\" y=\"4\" width=\"{:.1f}\" height=\"10\" rx=\"2\"/>"
      "<path class=\"expected\" d=\"M{:.1f} 2v14\"/>"
      "<circle class=\"fill-{}\" cx=\"{:.1f}\" cy=\"9\" r=\"4.2\"/></svg>",
      kMargin, kWide - kMargin, at(band_low), std::max(at(band_high) - at(band_low), 1.0), at(expected),
      inside ? "blue" : "orange", at(share));
}

}  // namespace slimbayes
