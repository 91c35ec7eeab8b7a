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
  at::Tensor width = {};         // [n, k] of the joint region, divided likewise; or undefined: no volume
  at::Tensor weight = {};  // [n] of the rows, each > 0 (answers/row_mean.h); undefined: each counts once
};

/// Returns the scores of joint answers whose normal scores have this correlation [k, k]. The joint region of
/// a row is that of the normal scores within +-factor (answers/joint/region.h). Rows without a known target
/// are left out. Means are by the weights of the rows, and their standard errors those of the effective
/// number of rows. The NLL of a row's known targets is the sum of theirs minus the log density of the copula;
/// nll_gain is finite also where that sum is infinite. Throws std::invalid_argument if the shapes do not
/// match, z, nll and y differ in what is unknown, no row has a known target, or `factor` is NaN or below 0.
JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level,
                                 double factor);

/// The same with the factor region_factor(correlation, level).
JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level);

}  // namespace slimbayes
