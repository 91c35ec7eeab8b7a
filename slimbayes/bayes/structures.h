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

/// Returns the structure W = diag(s) V diag(r), as make_rank_one() but with s and r themselves under the
/// prior, which draws them to 0 and not to 1. They start at 1, so that both start at the same W. Source:
/// Toure and Stephens, appendix I.1.1.
std::unique_ptr<const Structure> make_rank_one_at_zero(const RandomSite& site, const SitePlan& plan);

/// Returns the structure in which W [out, in], with the bias as one more column, is the draw of a Gaussian
/// given a random matrix U [M_out, M_in] of inducing weights (SitePlan::inducing; FiD-GP, references.md):
///
///   W = sd (E[W0 | U] + lambda noise),   U = L_r V L_c^T,   V = g(V0),   V0 Gaussian, g a flow or none
///
/// sd is that of the prior, W0 standard normal, and the noise is that of W0 given U ("matheron") or
/// independent standard normal numbers ("reparam", another model). The parameters are, for the site NAME: the
/// mean and the spread of V0 (NAME.inducing, NAME.inducing.spread), Z and D of both sides (NAME.z_rows,
/// NAME.d_rows, ...), lambda (NAME.noise), the sds of the rows of Z if these vary (NAME.z_rows.spread,
/// ...) and those of the flow (NAME.flow....). Its draws are DenseMaps;
/// SiteDraw::numbers holds V, the log determinant of the flow, and U.
/// Throws std::invalid_argument for an embedding, a mixture prior, or a plan out of range.
std::unique_ptr<const Structure> make_inducing(const RandomSite& site, const SitePlan& plan);

}  // namespace slimbayes
