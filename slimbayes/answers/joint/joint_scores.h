#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace slimbayes {

/// The scores of joint answers to several targets, beside those of the same answers taken as independent.
/// A struct of catalog/fields.h.
struct JointEvaluation {
  int64_t n = 0, complete = 0;
  double nll_joint = 0, nll_independent = 0, nll_gain = 0;
  std::optional<double> nll_gain_se = {};
  double energy = 0, energy_independent = 0, energy_gain = 0;
  std::optional<double> energy_gain_se = {};
  double level = 0;
  std::optional<double> region_coverage = {}, region_volume = {};
  std::string lower = {};
};

template <class V>
void describe(JointEvaluation& f, V& v) {
  v("n", f.n, "number of rows with a known target");
  v("complete", f.complete, "number of these rows in which all targets are known");
  v("nll_joint", f.nll_joint,
    "negative log likelihood of the known targets of a row together, in nats a row");
  v("nll_independent", f.nll_independent, "sum of their negative log likelihoods, in nats a row");
  v("nll_gain", f.nll_gain, "mean of nll_independent minus nll_joint; positive: joint answers are better");
  v("nll_gain_se", f.nll_gain_se, "its standard error, of the paired differences; of more than one row");
  v("energy", f.energy, "energy score of joint draws, of targets divided by their sds");
  v("energy_independent", f.energy_independent, "energy score of the draws without correlation");
  v("energy_gain", f.energy_gain, "mean of energy_independent minus energy; positive: joint is better");
  v("energy_gain_se", f.energy_gain_se,
    "its standard error, of the paired differences; of more than one row");
  v("level", f.level, "level of the joint regions");
  v("region_coverage", f.region_coverage,
    "share of the complete rows with all targets in the joint region; absent without complete rows");
  v("region_volume", f.region_volume, "mean volume of the joint regions, of targets divided by their sds");
  v("lower", f.lower, "the answers with the lower NLL: joint or independent");
}

/// What joint_evaluation scores: the pieces of n rows and k targets. A target that is unknown is NaN in z,
/// nll and y alike.
struct JointPieces {
  at::Tensor z;                  // [n, k] normal scores of the targets
  at::Tensor nll;                // [n, k] -log density of each target, in nats
  at::Tensor draws;              // [S, n, k] joint draws of the targets, divided by the sd of each target
  at::Tensor independent_draws;  // [S, n, k] the same without correlation
  at::Tensor y;                  // [n, k] the targets, divided likewise
  at::Tensor width = {};         // [n, k] of the joint region, divided likewise; or undefined: no volume
};

/// Returns the scores of joint answers whose normal scores have this correlation [k, k]. The joint region of
/// a row is that of the normal scores within +-factor (answers/joint/region.h). Rows without a known target
/// are left out. The NLL of a row's known targets is the sum of theirs minus the log density of the copula;
/// nll_gain is finite also where that sum is infinite. Throws std::invalid_argument if the shapes do not
/// match, z, nll and y differ in what is unknown, no row has a known target, or `factor` is NaN or below 0.
JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level,
                                 double factor);

/// The same with the factor region_factor(correlation, level).
JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level);

}  // namespace slimbayes
