#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/split.h"
#include "slimbayes/data/windows.h"

namespace slimbayes {

/// Splits the windows `usable` (see windows_with_target) by the time of their forecasts: training first, then
/// validation, calibration and test. Each part is a share of these windows (SplitOptions; kind "auto"). After
/// each part, windows are left out whose forecast is at most window + horizon - 1 steps later, so that no row
/// is seen from both sides. The lists hold indices into `usable`. `options` are those that the windows were
/// found with. Throws std::invalid_argument as split_rows, for another kind, and if a part is left empty.
SplitRows split_windows(const Windows& windows, const std::vector<int64_t>& usable,
                        const WindowOptions& options, const SplitOptions& split);

}  // namespace slimbayes
