#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns the range in which the share of hits among n independent rows lies with probability `mass` if each
/// is a hit with probability p: the central interval of the binomial distribution, divided by n.
std::pair<double, double> binomial_band(double p, int64_t n, double mass = 0.95);

/// Returns what the coverage of n rows says of intervals of this level, as the end of a sentence on them:
/// "too narrow", "too wide" or "as wide as they should be". Chance alone would give another coverage than the
/// 99 % band with probability 1 %.
std::string width_word(double coverage, int64_t n, double level);

/// Returns how the intervals of numbers or counts hold their level, over all levels and in quarters of the
/// rows.
CoverageFacts coverage_facts(const ScoredExamples& s);

/// Returns the coverage of the intervals of numbers or counts by the levels of each categorical column.
std::vector<GroupFact> coverage_groups(const ScoredExamples& s);

/// Returns the rows by the levels of each categorical or boolean input column with 2 to 12 levels among them.
/// `hits` [n] is 1 for a row inside its interval or answered rightly, `expected` [n] what the model says of
/// its probability. `width` [n], the widths of the intervals, may be undefined.
std::vector<GroupFact> group_facts(const ScoredExamples& s, const at::Tensor& hits,
                                   const at::Tensor& expected, const at::Tensor& width);

/// Returns the probability integral transform of each row as its two ends [n]: P(Y < y) and P(Y <= y). They
/// are equal for numbers.
std::pair<at::Tensor, at::Tensor> integral_transform(const Predictive& p, const at::Tensor& y);

}  // namespace slimbayes
