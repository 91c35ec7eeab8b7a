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

/// Returns the end of a sentence on intervals of this level whose coverage of n rows was `coverage`: "too
/// narrow" or "too wide" if the coverage is outside binomial_band(level, n, 0.99), else "as wide as they
/// should be". The coverage of correct intervals lies outside that band with probability
/// 1 % or less.
std::string width_word(double coverage, int64_t n, double level);

/// Returns how the intervals of numbers or counts hold their level, over all levels and in quarters of the
/// rows.
CoverageFacts coverage_facts(const ScoredExamples& s);

/// Returns the coverage of the intervals of numbers or counts by the levels of each categorical column.
std::vector<GroupFact> coverage_groups(const ScoredExamples& s);

/// Returns the rows by the levels of each categorical or boolean input column with 2 to 20 levels among them.
/// `hits` [n] is 1 for a row inside its interval or answered rightly, `expected` [n] the model's probability
/// of a hit. `width` [n], the widths of the intervals, may be undefined.
std::vector<GroupFact> group_facts(const ScoredExamples& s, const at::Tensor& hits,
                                   const at::Tensor& expected, const at::Tensor& width);

/// Returns the probability integral transform of each row as its two ends [n]: P(Y < y) and P(Y <= y). They
/// are equal for numbers.
std::pair<at::Tensor, at::Tensor> integral_transform(const Predictive& p, const at::Tensor& y);

}  // namespace slimbayes
