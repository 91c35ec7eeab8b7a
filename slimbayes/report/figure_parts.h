#pragma once

#include <string>
#include <vector>

#include "slimbayes/report/chart.h"

namespace slimbayes {

// Functions that several figures of a report use.

inline constexpr double kFigureHeadroom = 1.08;  // of a histogram, above its highest bar

/// Returns a line of the usual width.
Mark line_mark(const std::string& label, const std::string& colour, std::vector<double> x,
               std::vector<double> y);

/// Returns the dashed line y = x from 0 to 1.
Mark diagonal_mark(const std::string& label);

/// Returns the range of the numbers without the share `cut` of them at each end. {0, 1} for no numbers.
Extent extent_of(std::vector<double> numbers, double cut);

/// Returns the range with a margin at each end; a range of width 0 gets a width.
Extent padded(Extent extent);

/// Returns the range of the numbers or, if a few of them lie far out, of the middle 99 %.
Extent visible_extent(const std::vector<double>& numbers);

/// Returns the edges of `bins` equal bins.
std::vector<double> edges_of_bins(size_t bins, double low, double high);

/// Returns the ticks of a column of this kind (kind_name): times for "datetime"; else none, which stands for
/// round numbers.
std::vector<Tick> ticks_for_column(const std::string& kind, Extent extent, int most);

/// Returns the text cut to `most` characters, the last of which is then an ellipsis.
std::string shortened_text(const std::string& text, size_t most);

/// Returns the words for a score of uncertainty or of foreign rows, such as "epistemic sd".
std::string words_of_score(const std::string& name);

}  // namespace slimbayes
