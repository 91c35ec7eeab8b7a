#include "slimbayes/train/problem.h"

#include <ATen/ATen.h>

namespace slimbayes {

std::vector<at::Tensor> changing_tensors(const TrainProblem& problem) {
  std::vector<at::Tensor> all;
  for (const ParameterGroup& group : problem.groups) all.push_back(group.value);
  all.insert(all.end(), problem.buffers.begin(), problem.buffers.end());
  return all;
}

}  // namespace slimbayes
