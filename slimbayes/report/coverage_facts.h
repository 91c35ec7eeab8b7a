#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the range in which the share of hits among n independent rows lies with probability `mass` if each
/// is a hit with probability p: the central interval of the binomial distribution, divided by n.
std::pair<double, double> binomial_band(double p, int64_t n, double mass = 0.95);

/// Returns what the coverage of n rows says of intervals of this level, as the end of a sentence on them:
/// "too narrow", "too wide" or "as wide as they should be". Chance alone would give another coverage than the
/// 99 % band with probability 1 %.
std::string width_word(double coverage, int64_t n, double level);

/// Returns how the intervals of numbers or counts hold their level, as a JSON object:
///   calibration  lists `level` and `coverage`, the share of rows in the central interval of each of 19
///                levels (a count at an end of its interval counts in part), `area`, the mean distance
///                between the two; of a calibrated model also `level_calibrated` and `coverage_calibrated`,
///                those of its conformal intervals
///   pit          `share` of the rows in each of equal bins of the probability integral transform, and
///                `band`, the range of a share that chance explains; of counts the transform is averaged
///                (Czado, Gneiting and Held 2009, section 2.1)
///   quarters     for `mean` and for `sd` a list with an entry for each quarter of the rows, in ascending
///                order of that number: low and high, rows, share (inside the interval), expected, band and
///                width (mean, in the target's units)
///   groups       see group_facts()
/// Each has a sentence `says`.
nlohmann::json coverage_facts(const ScoredExamples& s);

/// Returns for each categorical or boolean input column with 2 to 12 levels among these rows a JSON object:
/// `column`, and `levels` with an entry for each level: level, rows, share, expected, band. Of numbers and
/// counts the share is the coverage of the intervals, and `width` their mean width; of classes it is the
/// accuracy, and `expected` the mean confidence. `hits` [n] is 1 for a row inside its interval or answered
/// rightly, `expected` [n] what the model says of its probability. `width` [n] may be undefined.
nlohmann::json group_facts(const ScoredExamples& s, const at::Tensor& hits, const at::Tensor& expected,
                           const at::Tensor& width);

/// Returns the probability integral transform of each row as its two ends [n]: P(Y < y) and P(Y <= y). They
/// are equal for numbers.
std::pair<at::Tensor, at::Tensor> integral_transform(const Predictive& p, const at::Tensor& y);

}  // namespace slimbayes
