#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/families/method.h"

namespace slimbayes::contract {

/// The dataset with edit(its rows) in their place.
template <class Edit>
Dataset changed(const Dataset& data, Edit edit) {
  Batch rows = data.all();
  edit(rows);
  return dataset_of(data.schema, std::move(rows));
}

/// A method under test, with options that make its fit quick.
struct Subject {
  const MethodInfo* info;
  std::function<std::unique_ptr<Method>()> make;
  std::function<std::unique_ptr<Fitted>(const TensorFile&)> load;
  /// Predictions of the saved model by another process; empty: skip that check's second process, load here.
  std::function<Regression(const TensorFile& model, const Dataset& data)> predict_elsewhere;
};

/// One clause of the contract of every method. `hold` throws Violation when the subject breaks it; `fitted`
/// is the subject fitted on toy_split() with the seed kSeed.
struct Clause {
  std::string name;
  std::function<void(const Subject&, const Fitted& fitted)> hold;
};

inline constexpr uint64_t kSeed = 5;
Split toy_split(int64_t inputs = 2);

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const std::vector<Clause>& clauses();

/// Rows of y = sin(3 x_0) + 0.1 noise on [-1, 1]^d.
Dataset toy(int64_t rows, uint64_t seed, int64_t inputs = 2);

}  // namespace slimbayes::contract
