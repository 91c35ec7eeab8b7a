#pragma once

#include <string>
#include <vector>

#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes {

/// Joins the models of several targets: estimates the correlation of their held-out errors and, with
/// FitOptions::calibrate "conformal", the scores of the joint region (JointParts). `split` has the parts of
/// the whole table (deal_targets), and the models were fitted to the rows of these parts in which their
/// target is known (target_fit); `valid` is separate validation data or nullptr. `notes` gets sentences on
/// what the correlation rests on. Throws as Model::answers.
JointModel joint_model(std::vector<Model> models, const Table& table, const FitOptions& fit,
                       const Table* valid, const SplitRows& split, std::vector<std::string>& notes);

}  // namespace slimbayes
