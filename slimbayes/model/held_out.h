#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Evaluates the model on these examples and returns the metrics (Model::evaluate) with the intervals at
/// `level`; nothing for no examples. Examples that get no answer are left out, and `notes` receives a
/// sentence on them. Throws DataError if no example gets an answer.
std::optional<Evaluation> report_on(const Model& model, const Examples& examples, double level,
                                    std::vector<std::string>& notes);

/// Returns the indices of a part of `examples`, which must be the examples that the model was fitted on.
/// `part` is "train", "valid", "calibration" or "test". Throws std::invalid_argument if the examples have
/// another hash than those of the fit, if the model has no split (it was updated or merged), or if the part
/// is empty.
const std::vector<int64_t>& rows_of_part(const Model& model, const Examples& examples,
                                         const std::string& part);

/// As rows_of_part() for a model of several targets: the rows of a part of the whole table.
const std::vector<int64_t>& rows_of_part(const JointModel& model, const Examples& examples,
                                         const std::string& part);

/// Returns the examples of rows_of_part(), and throws as it does.
Examples part_of(const Model& model, const Examples& examples, const std::string& part);

}  // namespace slimbayes
