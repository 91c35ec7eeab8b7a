#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// A least-squares problem in two parameters. `seen` records the rows of every step.
struct Toy {
  at::Tensor x = Stream(1).normal({50, 2}), y = at::mv(x, at::tensor({1.5, -2.0}, at::kDouble));
  at::Tensor value = at::zeros({2}, at::kDouble), grad = at::zeros({2}, at::kDouble);
  std::vector<std::vector<int64_t>> seen;
  const Collective* ranks = nullptr;
  double sharpness = 0;
  std::function<double()> validate = [this] { return (at::mv(x, value) - y).square().mean().item<double>(); };

  TrainProblem problem() {
    TrainProblem p;
    p.groups = {{"all", value, grad, 0.05, 0}};
    p.rows = 50;
    p.ranks = ranks;
    p.mean_of_rows = true;
    p.sharpness = sharpness;
    p.sharp_groups = {"all"};
    p.validate = validate;
    p.source = std::make_shared<TensorSource>(Batch{{x, at::arange(50)}, y});
    p.step = [this](const Batch& batch, const StepContext&) {
      const at::Tensor &xb = batch.inputs[0], &rows = batch.inputs[1],
                       error = at::mv(xb, value) - batch.target;
      grad.add_(at::mv(xb.t(), error) * (2.0 / static_cast<double>(rows.size(0))));
      seen.emplace_back(rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.size(0));
      double loss = error.square().mean().item<double>();
      return loss;
    };
    return p;
  }
  Summary fit(const TrainingOptions& options, Callback* callback = nullptr,
              const CheckpointPolicy& policy = {}) {
    TrainProblem p = problem();
    return train(p, options, Stream(7), callback, policy);
  }
};

inline TrainingOptions few_epochs(int64_t epochs) {
  TrainingOptions options;
  options.epochs = epochs;
  options.batch = 16;
  return options;
}

struct StopAt : Callback {
  int64_t left;
  explicit StopAt(int64_t steps) : left(steps) {}
  bool stop() override { return left-- <= 0; }
};

inline std::filesystem::path scratch(const std::string& name) {
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove(path);
  return path;
}

}  // namespace slimbayes
