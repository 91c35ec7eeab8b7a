#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/predictive.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/summary.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

struct PredictOptions {
  int64_t batch = 4096;  // rows at a time; the answer does not depend on it
};

/// What a fit returns: something that can predict. Immutable; safe to share between threads.
class Fitted {
 public:
  virtual ~Fitted() = default;

  /// On the dataset's own (standardised) target scale. Throws std::invalid_argument for another number of
  /// inputs or non-finite ones. n = 0 gives an empty answer. Far from the training rows (Encoder::kFarthest)
  /// an answer may overflow; Model::answers names such rows.
  virtual Predictive predict(const Dataset& data, const PredictOptions& options = {}) const = 0;

  /// The method's own tensors and metadata; a loader of the registry reads them back to identical
  /// predictions.
  virtual TensorFile save() const = 0;

  virtual const Summary& summary() const = 0;
};

/// Training and validation rows. `valid` may be empty.
struct Split {
  Dataset train, valid;
};

struct FitContext {
  Stream stream{0};
  Callback* callback = nullptr;  // not owned; nullptr watches nothing
  CheckpointPolicy checkpoint = {};
};

/// Immutable configuration; nothing can be predicted before fit.
class Method {
 public:
  virtual ~Method() = default;

  /// Throws std::invalid_argument for empty, mis-shaped or non-finite data, NumericalError when it cannot be
  /// fitted.
  virtual std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const = 0;
};

}  // namespace slimbayes
