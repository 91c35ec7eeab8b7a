#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/method/method.h"
#include "tests/methods/contract.h"

namespace slimbayes::contract {

/// Small learnable data of one kind of input and one task.
struct InputCase {
  std::string name;
  InputKind kind;
  TaskKind task;
  std::string network;
  Dataset (*data)(int64_t n, uint64_t seed);
  int64_t rows, steps;  // training rows and steps of the fit that is given to the clauses
  double constant;      // NLL of the best answer that does not depend on the input
};
std::span<const InputCase> input_cases();

/// Returns options that make a fit of the case quick.
nlohmann::json input_options(const MethodInfo& info, const InputCase& c, int64_t steps);

Split input_split(const InputCase& c);

/// A method on a case. `make` takes the number of steps.
struct InputSubject {
  const MethodInfo* info;
  const InputCase* data;
  std::function<std::unique_ptr<Method>(int64_t steps)> make;
  std::function<std::unique_ptr<Fitted>(const TensorFile&)> load;
};

/// One clause of the contract that holds for every method on every kind of input and task that it takes.
/// `hold` throws Violation if the subject breaks it. `fitted` is the subject fitted on input_split() with the
/// seed kSeed and the case's steps.
struct InputClause {
  std::string name;
  std::function<void(const InputSubject&, const Fitted& fitted)> hold;
};
const std::vector<InputClause>& input_clauses();

}  // namespace slimbayes::contract
