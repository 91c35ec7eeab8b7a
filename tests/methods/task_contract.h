#pragma once

#include <string>
#include <vector>

#include "tests/methods/contract.h"

namespace slimbayes::contract {

/// Rows for a likelihood (bernoulli, softmax of three classes, poisson) on [-1, 1]^2 whose first input
/// decides, or events of a Cox process there (cox).
Dataset task_toy(LikelihoodKind likelihood, int64_t rows, uint64_t seed);

/// A clause of the contract of every method that declares a task beside regression; `fitted` is the subject
/// fitted on task_split(likelihood) with the seed kSeed.
struct TaskClause {
  std::string name;
  std::function<void(const Subject&, LikelihoodKind likelihood, const Fitted& fitted)> hold;
};
const std::vector<TaskClause>& task_clauses();

Split task_split(LikelihoodKind likelihood);

}  // namespace slimbayes::contract
