// Splits windows by time. Windows overlap, so a random split would show rows of the test windows in training.
// Therefore the parts follow each other in time, and windows that would see rows of two parts are left out.
#include "slimbayes/data/windows/window_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {

namespace {

constexpr const char* kSplitWindows = "split_windows";

/// The parts in the order of time.
constexpr std::array kPartsInTime = {&SplitRows::train, &SplitRows::valid, &SplitRows::calibration,
                                     &SplitRows::test};

void check_shares(const SplitOptions& split) {
  if (split.kind != "auto")
    refuse(kSplitWindows, "the split auto, by time", in_quotes(split.kind),
           "windows overlap: a random split would show the test rows in training");
  const double shares[] = {split.valid_fraction, split.calibration_fraction, split.test_fraction};
  for (double share : shares)
    if (!(share >= 0 && share < 1))
      refuse(kSplitWindows, "fractions from 0 to below 1", fmt::format("{}", share));
  const double sum = shares[0] + shares[1] + shares[2];
  if (!(sum < 1)) refuse(kSplitWindows, "fractions whose sum is below 1", fmt::format("{}", sum));
}

/// The windows to split, sorted by the time that they predict.
struct Forecasts {
  std::vector<double> times;   // the time that each window predicts
  std::vector<int64_t> order;  // indices into `times`, earliest first
};

Forecasts forecasts_of(const Windows& windows, const std::vector<int64_t>& usable,
                       const WindowOptions& options) {
  Forecasts all;
  const std::vector<double> forecasts = windows.forecast_times(options);
  for (int64_t i : usable) all.times.push_back(forecasts[static_cast<size_t>(i)]);
  all.order.resize(usable.size());
  std::iota(all.order.begin(), all.order.end(), 0);
  std::ranges::stable_sort(all.order, {}, [&](int64_t i) { return all.times[static_cast<size_t>(i)]; });
  return all;
}

/// Returns the end of each part (in the order of kPartsInTime) as an index into Forecasts::order, for n
/// windows. Part p begins where part p - 1 ends.
std::array<int64_t, 4> ends_of(const SplitOptions& split, int64_t n) {
  const double shares[] = {split.valid_fraction, split.calibration_fraction, split.test_fraction};
  std::array<int64_t, 4> ends = {0, 0, 0, n};
  for (size_t p = 3; p-- > 0;)
    ends[p] = std::max<int64_t>(
        0, ends[p + 1] - static_cast<int64_t>(std::ceil(shares[p] * static_cast<double>(n) - 1e-9)));
  return ends;
}

}  // namespace

SplitRows split_windows(const Windows& windows, const std::vector<int64_t>& usable,
                        const WindowOptions& options, const SplitOptions& split) {
  check_shares(split);
  check(!usable.empty(), kSplitWindows, "windows whose target is in the table", "none",
        "lower `.window` or `.horizon`, or give more rows");
  const Forecasts forecasts = forecasts_of(windows, usable, options);
  const std::array<int64_t, 4> ends = ends_of(split, std::ssize(usable));
  const auto time_of = [&](int64_t k) {
    return forecasts.times[static_cast<size_t>(forecasts.order[static_cast<size_t>(k)])];
  };
  SplitRows parts;
  const double width = windows.step * static_cast<double>(options.window + options.horizon - 1);
  double reached = -HUGE_VAL;  // latest forecast time of the previous parts
  int64_t left_out = 0;
  for (size_t p = 0; p < ends.size(); ++p) {
    std::vector<int64_t>& part = parts.*kPartsInTime[p];
    const int64_t begin = p == 0 ? 0 : ends[p - 1];
    for (int64_t k = begin; k < ends[p]; ++k) {
      const double forecast = time_of(k);
      if (forecast - reached >
          width + time_tolerance(width, forecast) + time_tolerance(windows.step, forecast))
        part.push_back(forecasts.order[static_cast<size_t>(k)]);
      else
        ++left_out;
    }
    if (ends[p] > begin) reached = time_of(ends[p] - 1);
    if (ends[p] != begin && part.empty())
      refuse(kSplitWindows,
             fmt::format("parts longer than a window and its horizon, of {} windows or more",
                         options.window + options.horizon),
             fmt::format("a part of {} of the {} (the longest run without a gap has {})", ends[p] - begin,
                         counted(std::ssize(usable), "window"), counted(windows.longest, "row")),
             "lower `.window`, raise the fractions, or give more rows");
    std::ranges::sort(part);
  }
  if (parts.train.empty())
    refuse(kSplitWindows, "windows to train on",
           fmt::format("none of {}", counted(std::ssize(usable), "window")),
           "lower `.window` or the fractions");
  if (left_out > 0)
    parts.notes.push_back(fmt::format(
        "split by time, the last windows are held out; {} between two parts {} left out, so that no window "
        "sees rows of both",
        counted(left_out, "window"), left_out == 1 ? "is" : "are"));
  return parts;
}

}  // namespace slimbayes
