#pragma once

#include <string>

namespace slimbayes {

/// Returns the style sheet of the report's page: system fonts, one column, dark and light by the reader's
/// preference. It is page.css, with the variables and rules that inset_svg() and the pieces of html.h need.
std::string page_style();

}  // namespace slimbayes
