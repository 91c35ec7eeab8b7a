#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/split/split.h"
#include "slimbayes/encoding/windows/windows.h"

namespace slimbayes {

/// Splits windows by the time that they predict: the earliest are for training, then follow the validation,
/// calibration and test parts. `usable` are the windows to split, as indices into Windows::last (see
/// windows_with_target); each part gets its share of them (SplitOptions, kind "auto"). Windows at the
/// beginning of a part are left out if the time that they predict is at most window + horizon - 1 steps after
/// the part before, so that no row is seen from two parts. Returns indices into `usable`. `options` are those
/// of find_windows.
/// Throws std::invalid_argument as split_rows, for another kind than "auto", and if a part is left empty.
SplitRows split_windows(const Windows& windows, const std::vector<int64_t>& usable,
                        const WindowOptions& options, const SplitOptions& split);

}  // namespace slimbayes
