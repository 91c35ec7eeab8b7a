#pragma once

#include <string>
#include <vector>

#include "slimbayes/report/chart.h"

namespace slimbayes {

/// Returns ticks for an axis of calendar times, seconds since 1970 in UTC: at most `most` of them, at whole
/// hours, days, months or years, such as "14:00", "3 May", "May 2015" and "2015". The range must lie within
/// the years 1 to 9998; else returns none.
std::vector<Tick> time_ticks(Extent extent, int most);

/// Returns the years of a range of calendar times: "2015" or "2014 to 2015".
std::string years_text(Extent extent);

}  // namespace slimbayes
