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
/// a deterministic network; SitePlan::damping multiplies s. Throws std::invalid_argument unless 1 <= rank <=
/// kMostRank, or if v is 0.
///
/// With SitePlan::start "svd" the factors start at the best approximation of rank r of the tensor's initial
/// values W = U S V^T instead: A = U_r S_r^1/2, B = V_r S_r^1/2. Columns beyond the smaller side of W are 0.
/// Use it to start from a trained network.
std::unique_ptr<const Structure> make_low_rank(const RandomSite& site, const SitePlan& plan);

/// Returns the structure W = diag(1 + s) V diag(1 + r) with random s [out] and r [in], whose elements are
/// independent, and a trained matrix V that is not random (Dusenberry et al. 2020). s and r start at 0. Its
/// draws are ScaledMaps.
std::unique_ptr<const Structure> make_rank_one(const RandomSite& site, const SitePlan& plan);

}  // namespace slimbayes
