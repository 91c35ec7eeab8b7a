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

struct TrainedNetwork;  // method/trained_network.h
class NetworkCache;     // method/network_cache.h

/// How predictions are computed.
struct PredictOptions {
  int64_t batch = 4096;  // rows per batch: limits the memory; changes the answer by float32 rounding at most
  /// Whether a pass may differentiate, by its inputs or its weights. A method sets it where its answer needs
  /// a gradient.
  bool gradients = false;
};

/// A fitted method: the result of Method::fit, able to predict. Immutable; safe to share between threads.
class Fitted {
 public:
  virtual ~Fitted() = default;

  /// Returns the answers on the dataset's own (standardised) target scale. Throws std::invalid_argument for
  /// another number of inputs or for inputs that are not finite. n = 0 gives an empty answer. Far from the
  /// training rows (Encoder::kFarthest) an answer may overflow; Model::answers names such rows.
  virtual Predictive predict(const Dataset& data, const PredictOptions& options = {}) const = 0;

  /// Returns the method's own out-of-distribution scores by name, those that its answers do not hold
  /// (core/answers.h, scores()): they need the network. Larger means farther from the training data. [n]
  /// each, float64, finite where the answer is. By default "energy" (core/class_likelihood.h) of the logits
  /// of network() if it classifies, else none. Costs one pass of the network. Throws as predict.
  virtual Scores ood(const Dataset& data) const;

  /// Returns the method's own tensors and metadata. The loader in the registry reads them back and gives
  /// identical predictions; after updated(), predictions that are equal up to rounding.
  virtual TensorFile save() const = 0;

  virtual const Summary& summary() const = 0;

  /// Returns the method with its posterior given these rows too and `drop` no longer, which must have been
  /// among its rows; features, noise and prior stay the same. Either may be empty. Exact: the posterior
  /// equals one that is computed from all rows at once, up to rounding. A posterior of a sample of the rows
  /// gains the new rows beside the sample, and drops none. This object does not change. Throws
  /// std::invalid_argument for rows that do not fit and for a method without an exact posterior
  /// (MethodInfo::updates). It does not know whether `drop` was among its rows: NumericalError tells only
  /// that the remaining posterior would not be one. Model::without knows the rows.
  virtual std::unique_ptr<Fitted> updated(const Dataset& add, const Dataset& drop) const;

  /// Returns the method with the posterior that its rows give if the noise has this variance, on the
  /// (standardised) target scale; nullptr if its own is larger already, or if the noise is not a number that
  /// its posterior is computed from after the training. Cross-fitted noise (workflow/noise_folds.h) enters
  /// the posterior so: with a noise that is far too small, rows would seem to leave nothing unknown.
  virtual std::unique_ptr<Fitted> with_noise(double var) const;

  /// Returns the method before any row: the same features, noise and prior. With updated() it gives the
  /// posterior of other rows alone, a shard that merged() joins. Throws std::invalid_argument for a method
  /// without an exact posterior.
  virtual std::unique_ptr<Fitted> prior() const;

  /// Returns the method with the posterior that the rows of both give together, up to rounding. Rows that
  /// both have learned count twice. Throws std::invalid_argument unless the other's method, features, noise
  /// and prior are the same, and for a method without an exact posterior.
  virtual std::unique_ptr<Fitted> merged(const Fitted& other) const;

  /// Returns the network that the answers' mean comes from, for a method that trains one with a linear output
  /// layer (FitContext::start); nullptr for every other method.
  virtual std::shared_ptr<const TrainedNetwork> network() const { return nullptr; }
};

/// The training and validation rows of a fit. `valid` may be empty.
struct Split {
  Dataset train, valid;
};

/// What a fit takes beside its data.
struct FitContext {
  /// Seeds every random draw of the fit.
  Stream stream{0};
  Callback* callback = nullptr;  // watches and stops the fit; not owned, nullptr: nobody watches
  CheckpointPolicy checkpoint = {};
  /// A network that is already trained, on the rows of this fit. Methods that train a network with a linear
  /// output layer take it instead; others ignore it. nullptr: there is none.
  std::shared_ptr<const TrainedNetwork> start = {};
  /// Networks that other fits of the same rows have trained: a fit that would train the same network takes it
  /// from here, and leaves its own here. It changes the time of a fit, not its result. Not owned; nullptr:
  /// every fit trains its own.
  NetworkCache* networks = nullptr;
  /// Whether the validation rows of this fit had no part in training `start`. If they may have had one, a
  /// method that takes its noise from them takes at least the network's own.
  bool valid_unseen = true;
};

/// A method with its options, before the fit. Immutable.
class Method {
 public:
  virtual ~Method() = default;

  /// Fits the method. Throws std::invalid_argument for empty, mis-shaped or non-finite data, and
  /// NumericalError when the method cannot be fitted to them.
  virtual std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const = 0;
};

}  // namespace slimbayes
