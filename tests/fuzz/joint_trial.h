#pragma once

#include <ATen/ATen.h>

#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/model/joint/joint_model.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/trial.h"

// What is done with a mutant of a model of several targets: answers, draws, regions, a probability, a report.

namespace slimbayes::trial {

/// Returns the file of a calibrated model of two numbers and a class.
inline TensorFile joint_file(const Table& table) {
  JointRequest request;
  request.fit.target = "y,z,label";
  request.fit.method = "constant";
  request.fit.calibrate = "conformal";
  request.fit.calibration_fraction = 0.3;
  request.fit.level = 0.5;
  Callback silent;
  return fit_joint(table, request, nullptr, {}, silent).model->to_file();
}

/// Reads a file of several targets, then asks the model for everything that it answers.
inline bool try_joint(const Bytes& bytes, const Table& table) {
  return answers([&] {
    const JointModel model = JointModel::from_file(parse_tensor_file(bytes, "mutant"), "mutant");
    answers([&] {
      const JointAnswers all = model.answers(Examples(table), {{0.5}});
      if (!model.draws(all, 3, Stream(1)).isfinite().all().item<bool>()) throw NotFinite("a draw");
      const JointRegion region = model.region(all, 0.5);
      if (region.lower.isnan().any().item<bool>()) throw NotFinite("a region");
      model.probability(all, {{"y", JointCondition::Holds::above, 0.1}});
    });
    answers([&] { model.evaluate(table, 0.5); });
    JointModel::from_file(model.to_file(), "again");
  });
}

}  // namespace slimbayes::trial
