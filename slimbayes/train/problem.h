#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/source.h"

namespace slimbayes {

/// Parameters that share an update rule, as one flat buffer with its gradient beside it.
struct ParameterGroup {
  std::string name;
  at::Tensor value;             // [p] contiguous
  at::Tensor grad;              // [p] the step fills it; the trainer zeroes it before
  double learning_rate = 1e-3;  // peak
  double weight_decay = 0;      // decoupled
};

struct StepContext {
  int64_t step;       // from 0
  int64_t steps;      // budget
  int64_t epoch = 0;  // from 0
  Stream stream{0};   // of this step's own draws, such as dropout's
};

/// Fills the groups' gradients from a batch and returns the loss that was differentiated: mini-batch,
/// two-pass and sharpness-aware alike. Without TrainProblem::source the batch is empty.
using GradientStep = std::function<double(const Batch& batch, const StepContext&)>;

/// The batches of an epoch, a list of row indices [b] each: a function of the stream alone.
using BatchPlan = std::function<std::vector<at::Tensor>(const Stream& stream)>;

/// What the trainer trains: it knows flat buffers and a step, no layers.
struct TrainProblem {
  std::vector<ParameterGroup> groups;
  std::vector<at::Tensor> buffers = {};  // what steps change beside them, such as running averages: kept with the best
  std::shared_ptr<const Source> source = {};  // of the batches; nullptr for a method that reads its rows by itself
  int64_t rows = 0;                           // training rows
  BatchPlan plan = {};  // as many batches every epoch; empty: a permutation, cut into steps of nearly equal size
  GradientStep step;
  std::function<double()> validate;  // the selection score, lower is better; empty: keep the last parameters
  std::string score = "standardised validation NLL";  // what validate() returns (Summary::score)
};

/// What steps change, as views: the values of each group, then the buffers. A checkpoint and the best state
/// hold these.
std::vector<at::Tensor> changing_tensors(const TrainProblem& problem);

}  // namespace slimbayes
