#include "slimbayes/data/answer_to.h"

#include <ATen/ATen.h>

#include "slimbayes/answers/answers.h"

namespace slimbayes {

bool is_answer_to(const Predictive& p, const Task& task) {
  if (task_of(p) != task.kind) return false;
  const auto* classes = std::get_if<Classes>(&p);
  return classes == nullptr || classes->probabilities.size(1) == std::ssize(task.levels);
}

}  // namespace slimbayes
