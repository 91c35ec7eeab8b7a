#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/catalog/fields.h"

namespace slimbayes {

// What `evaluate` says of a model of several targets as JSON: structs of catalog/fields.h.

/// The scores of one target. Its metrics are absent if no row has the target.
struct TargetScores {
  std::string target = {}, method = {};
  std::optional<Evaluation> metrics = {};
};

template <class V>
void describe(TargetScores& f, V& v) {
  v("target", f.target, "name of the target");
  v("method", f.method, "name of the method");
  v.part(f.metrics);
}

/// The report of the tool's `evaluate` on a model of several targets.
struct JointScoresReport {
  std::vector<TargetScores> targets = {};
  std::optional<JointEvaluation> joint = {};
  double level = 0;
  std::optional<std::string> region = {}, split = {};
};

template <class V>
void describe(JointScoresReport& f, V& v) {
  v("targets", f.targets, "for each target its name, its method and the metrics of the rows that have it");
  v("joint", f.joint, "the scores of the numbers and counts together; where a row has two of them");
  v("level", f.level, "level of the intervals, sets and regions");
  v("region", f.region, "conformal, or correlation: what the joint regions rest on; of numbers and counts");
  v("split", f.split, "the part that is scored: train, valid, calibration or test; with such a choice");
}

}  // namespace slimbayes
