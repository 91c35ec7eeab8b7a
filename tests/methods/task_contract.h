#pragma once

#include <string>
#include <vector>

#include "tests/methods/contract.h"

namespace slimbayes::contract {

/// Returns rows on [-1, 1]^2 whose target depends on the first input (bernoulli, softmax with three classes,
/// poisson), or events of a Cox process there (cox).
Dataset task_toy(LikelihoodKind likelihood, int64_t rows, uint64_t seed);

/// One clause of the contract that holds for every method with a task other than regression. `hold` throws
/// Violation if the subject breaks it; `fitted` is the subject fitted on task_split(likelihood) with seed
/// kSeed.
struct TaskClause {
  std::string name;
  std::function<void(const Subject&, LikelihoodKind likelihood, const Fitted& fitted)> hold;
};
const std::vector<TaskClause>& task_clauses();

Split task_split(LikelihoodKind likelihood);

}  // namespace slimbayes::contract
