#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/evaluation.h"

namespace slimbayes {

/// What joint_evaluation scores: the pieces of n rows and k targets. A target that is unknown is NaN in z,
/// nll and y alike.
struct JointPieces {
  at::Tensor z;                  // [n, k] normal scores of the targets
  at::Tensor nll;                // [n, k] -log density of each target, in nats
  at::Tensor draws;              // [S, n, k] joint draws of the targets, divided by the sd of each target
  at::Tensor independent_draws;  // [S, n, k] the same without correlation
  at::Tensor y;                  // [n, k] the targets, divided likewise
  at::Tensor lower = {};         // [n, k] the bounds of the joint region, divided likewise; they may be
  at::Tensor upper = {};         // infinite. Both undefined: the region is known by its factor alone
  at::Tensor weight = {};  // [n] of the rows, each > 0 (answers/row_mean.h); undefined: each counts once
};

/// Returns the scores of joint answers whose normal scores have this correlation [k, k]. Rows without a known
/// target are left out. Means are by the weights of the rows, and their standard errors those of the
/// effective number of rows.
///
/// A complete row lies in its joint region if lower <= y <= upper for all targets. Without bounds it does if
/// its normal scores are within +-factor (answers/joint/region.h), which is the same for numbers; a count can
/// lie in the box while its score, drawn between the ends of its jump, does not. The volume is the product of
/// upper - lower, absent without bounds and if that of a row is infinite.
///
/// The NLL of a row's known targets is the sum of theirs minus the log density of the copula; nll_gain is
/// finite also where that sum is infinite. With counts it is no likelihood: the density stands at their drawn
/// scores, so another draw gives another value.
///
/// Throws std::invalid_argument if the shapes do not match, z, nll and y differ in what is unknown, a bound
/// is NaN, a lower bound is above the upper one, one of the two is missing, no row has a known target, or
/// `factor` is NaN or below 0.
JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level,
                                 double factor);

/// The same with the factor region_factor(correlation, level).
JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level);

}  // namespace slimbayes
