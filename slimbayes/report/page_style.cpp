#include "slimbayes/report/page_style.h"

#include "page_css.h"
#include "slimbayes/report/chart.h"

namespace slimbayes {

std::string page_style() { return chart_style() + kPageCss; }

}  // namespace slimbayes
