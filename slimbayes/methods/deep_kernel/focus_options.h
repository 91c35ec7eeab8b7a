#pragma once

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options that weight the rows early in training. They are for objectives that fit the predictive density of
/// each row, which would otherwise give up rows that are hard to predict (Seitzer et al. 2022).
struct FocusOptions {
  double focus = 0.5;
  double focus_until = 0.7;
};

template <class V>
void describe(FocusOptions& o, V& v) {
  v("focus", o.focus,
    "power of the predictive variance by which rows are weighted at the start of the training: rows that "
    "are hard to predict then keep their gradient; 0: equal weights",
    Range{0, 2}, "Seitzer et al. 2022");
  v("focus_until", o.focus_until,
    "share of the steps after which all rows have equal weights, as in the paper", Range{0, 1},
    "experiments/recipe");
}

/// Returns the focus options of --preset paper: all rows always have the same weight.
inline nlohmann::json paper_focus() { return {{"focus", 0.0}}; }

}  // namespace slimbayes
