#pragma once

#include <memory>

#include "slimbayes/bayes/structure.h"

namespace slimbayes {

/// The makers of the structures. Each has a source file of its own; structure.cpp lists them by name.

/// Returns the structure in which every element of the matrix is independent (Blundell et al. 2015). Its
/// draws are DenseMaps.
std::unique_ptr<const Structure> make_mean_field(const RandomSite& site, const SitePlan& plan);

/// Returns the structure W = A B^T with A [out, r] and B [in, r], in which all elements of A and B are
/// independent (Toure and Stephens, docs/references.md). Its draws are FactoredMaps. The locations of A
/// and B start at N(0, s^2) with s = (v / r)^1/4. W then starts with the variance v of the initial values in
/// a deterministic network. Throws std::invalid_argument unless 1 <= rank <= min(out, in), or if v is 0.
std::unique_ptr<const Structure> make_low_rank(const RandomSite& site, const SitePlan& plan);

}  // namespace slimbayes
