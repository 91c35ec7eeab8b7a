#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/method/method.h"

namespace slimbayes::contract {

/// Returns the dataset after `edit` has changed its rows (a Batch, by reference).
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
  /// Predicts with the saved model in another process. If empty, the check loads the model in this process.
  std::function<Regression(const TensorFile& model, const Dataset& data)> predict_elsewhere;
  /// Makes the method with fewer steps, for clauses that need fits of their own but no good ones. If empty,
  /// they take `make`.
  std::function<std::unique_ptr<Method>()> brief = {};
  /// Makes the method with a few steps, for clauses that ask what a fit repeats or touches. If empty, they
  /// take `brief`.
  std::function<std::unique_ptr<Method>()> briefest = {};
};

/// Fits the method of the subject, with few steps.
inline std::unique_ptr<Fitted> brief_fit(const Subject& subject, const Split& split, uint64_t seed) {
  return (subject.brief ? subject.brief : subject.make)()->fit(split, {Stream(seed), nullptr, {}});
}

/// Fits the method of the subject, with as few steps as it has a maker for.
inline std::unique_ptr<Fitted> briefest_fit(const Subject& subject, const Split& split, uint64_t seed) {
  if (!subject.briefest) return brief_fit(subject, split, seed);
  return subject.briefest()->fit(split, {Stream(seed), nullptr, {}});
}

/// Steps of `briefest`: some epochs of the toy data. A method of candidates takes more: in few steps those
/// that know the seed would have no weight.
inline constexpr int64_t kBriefestSteps = 24;

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

/// Throws Violation(what) unless ok.
inline void require(bool ok, const std::string& what) {
  if (!ok) throw Violation(what);
}

/// Throws Violation unless `body` throws std::invalid_argument with a sentence.
template <class Body>
void refuses(Body body, const std::string& what) {
  try {
    body();
  } catch (const std::invalid_argument& error) {
    require(std::string(error.what()).size() > 20, "no sentence for " + what);
    return;
  }
  throw Violation(what + " accepted");
}

/// Returns the answer of a regression.
inline Regression answer(const Fitted& fitted, const Dataset& data, const PredictOptions& options = {}) {
  return std::get<Regression>(fitted.predict(data, options));
}

const std::vector<Clause>& clauses();

/// Returns rows of y = sin(3 x_0) + 0.1 noise, x uniform on [-1, 1]^inputs.
Dataset toy(int64_t rows, uint64_t seed, int64_t inputs = 2);

}  // namespace slimbayes::contract
