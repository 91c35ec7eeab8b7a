#pragma once

#include <memory>

#include "slimbayes/bayes/structure.h"

namespace slimbayes {

/// The makers of the structures, one source file each; structure.cpp lists them by name.

/// Every number of the matrix is independent (Blundell et al. 2015). The map is dense.
std::unique_ptr<const Structure> make_mean_field(const RandomSite& site, const SitePlan& plan);

/// W = A B^T, A [out, r] and B [in, r], with independent numbers (papers: singular Bayesian networks,
/// docs/references.md). The locations start at N(0, s^2), s = (v / r)^1/4, so that W starts with the variance
/// v of the network's own initial values. Throws std::invalid_argument unless 1 <= rank <= min(out, in), and
/// for initial values without variance.
std::unique_ptr<const Structure> make_low_rank(const RandomSite& site, const SitePlan& plan);

}  // namespace slimbayes
