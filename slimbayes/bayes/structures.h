#pragma once

#include <memory>

#include "slimbayes/bayes/structure.h"

namespace slimbayes {

/// The makers of the structures. Each has a source file of its own; structure.cpp lists them by name.

/// Every element of the matrix is independent (Blundell et al. 2015). The map is dense.
std::unique_ptr<const Structure> make_mean_field(const RandomSite& site, const SitePlan& plan);

/// W = A B^T with A [out, r] and B [in, r]; all elements of A and B are independent (papers: singular
/// Bayesian networks, docs/references.md). The locations start at N(0, s^2) with s = (v / r)^1/4, so that W
/// starts with the variance v of the network's usual initial values. Throws std::invalid_argument unless 1 <=
/// rank <= min(out, in), or if the initial values have no variance.
std::unique_ptr<const Structure> make_low_rank(const RandomSite& site, const SitePlan& plan);

}  // namespace slimbayes
