#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

// Pieces of HTML. Texts are escaped (xml_escaped); arguments called `inner` are HTML already.

/// Returns <name class="cls">inner</name>; without the attribute if `cls` is "".
std::string element(std::string_view name, std::string_view cls, std::string_view inner);

/// Returns a text as HTML. The blank before a % does not break.
std::string text_html(const std::string& text);

/// Returns an element whose content is a text.
std::string text_element(std::string_view name, std::string_view cls, const std::string& text);

/// Returns a figure: title, what it shows here, the drawing, and how to read it. The drawing of a figure of
/// the class "wide" scrolls on a narrow screen. `says` and `how` may be
/// "".
std::string figure_html(const std::string& title, const std::string& says, const std::string& drawing,
                        const std::string& how, std::string_view cls = "");

/// Returns a section with a heading, to which the contents of the page link by `id`.
std::string section_html(const std::string& id, const std::string& title, const std::string& inner);

/// A cell of a table as HTML, and whether it is a number.
struct HtmlCell {
  std::string inner;
  bool number = false;
};

/// Returns a table in a box that scrolls if it is too wide. `head` are texts.
std::string table_html(const std::vector<HtmlCell>& head, const std::vector<std::vector<HtmlCell>>& rows,
                       std::string_view cls = "");

/// Returns a horizontal bar as SVG, its length a share from 0 to 1 of the cell.
std::string bar_svg(double share, std::string_view colour);

/// Returns a strip as SVG: on an axis from `low` to 1 the band of shares that chance explains, a mark at the
/// expected share, and a point at the share that was found, in another colour outside the band.
std::string strip_svg(double share, double expected, double band_low, double band_high, double low);

}  // namespace slimbayes
