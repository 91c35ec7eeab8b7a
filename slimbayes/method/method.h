#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/export.h"
#include "slimbayes/method/predict_options.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/summary.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes::engine {
class RowModel;     // engine/row_model.h
struct RowSpec;     // engine/row_spec.h
struct AnswerSpec;  // engine/spec/answer_spec.h
}  // namespace slimbayes::engine

namespace slimbayes {

struct TrainedNetwork;  // method/trained_network.h
class JobRanks;
class NetworkCache;    // method/network_cache.h
class ExactPosterior;  // below

/// How the answers of a fitted method follow from the outputs z of its network().
enum class NetworkUse : uint8_t {
  location,  // z is the location of the answer: the mean of a regression, logits, log rates
  averaged,  // the answer averages over a distribution around z: draws of the network, Gaussian logits
  corrected  // the location is z plus a term that does not come from the network
};

/// A row model that is made at its first use, by whichever thread comes first. A copy makes its own.
class LazyRowModel {
 public:
  using Made = std::shared_ptr<const engine::RowModel>;

  LazyRowModel() = default;
  LazyRowModel(const LazyRowModel&) {}
  LazyRowModel& operator=(const LazyRowModel&) = delete;

  const Made& get(const std::function<Made()>& make) const {
    std::call_once(once_, [&] { made_ = make(); });
    return made_;
  }

 private:
  mutable std::once_flag once_;
  mutable Made made_;
};

/// A fitted method: the result of Method::fit, able to predict. Immutable; safe to share between threads.
class SLIMBAYES_EXPORT Fitted {
 public:
  virtual ~Fitted() = default;

  /// Returns the answers on the dataset's own (standardised) target scale. Throws std::invalid_argument for a
  /// wrong number of inputs or inputs that are not finite. n = 0 gives an empty answer. Far from the training
  /// rows a number of the answer may overflow to infinity; Model::answers then reports that row as one
  /// without an answer.
  virtual Predictive predict(const Dataset& data, const PredictOptions& options = {}) const = 0;

  /// Returns the out-of-distribution scores that need the network, by name. Scores that follow from the
  /// answers alone are in answers/answers.h (scores()). A larger score means farther from the training data.
  /// Each is [n] float64, finite where the answer is. The default: "energy" (answers/class_likelihood.h) of
  /// the logits of network() for a classifier, else no scores. Costs one pass of the network, on
  /// options.device. Throws as predict.
  virtual Scores ood(const Dataset& data, const PredictOptions& options = {}) const;

  /// Returns the facts on each layer from which ood() computes the score "residual" (gradient_projection.h).
  /// A reader needs them to interpret that score. Empty by default.
  virtual std::vector<ProjectorFact> projectors() const;

  /// Returns the method's tensors and metadata. The loader in the registry reads them and gives identical
  /// predictions; after ExactPosterior::updated, the predictions are equal up to rounding.
  virtual TensorFile save() const = 0;

  virtual const Summary& summary() const = 0;

  /// Returns the method with its posterior computed anew for this noise variance, on the (standardised)
  /// target scale. Returns nullptr if the method's own noise is larger already, or if its posterior does not
  /// depend on a noise that is set after training. Use it for cross-fitted noise (fit/noise_folds.h):
  /// with a noise that is far too small, the epistemic variance would be far too small as well.
  virtual std::unique_ptr<Fitted> with_noise(double var) const;

  /// Returns this object as an ExactPosterior if the method can learn and forget rows without a new training
  /// (MethodInfo::updates), else nullptr.
  virtual const ExactPosterior* exact_posterior() const { return nullptr; }

  /// Returns the network that computes the mean of the answers (network_use()), if the method trains one with
  /// a linear output layer; else nullptr. Another fit can start from this network (FitContext::start).
  virtual std::shared_ptr<const TrainedNetwork> network() const { return nullptr; }

  /// Returns the network with one set of the random weights that predict() averages over, if the method draws
  /// weights (bbb, low-rank, fid-gp and their relatives); else nullptr. `draw` from 1 is the draw of this
  /// number, 0 the centre of the weights: their means or, of inducing weights with a flow, the weights given
  /// the image of the mean. Throws std::invalid_argument for a draw that predict() does not take.
  virtual std::shared_ptr<const TrainedNetwork> network_of(int64_t draw) const;

  /// Returns how the answers follow from the outputs of network(). Has no meaning where network() is nullptr.
  /// Use it before you say something about the answers from the network alone (model/model_networks.h).
  virtual NetworkUse network_use() const { return NetworkUse::location; }

  /// Returns the regression as data from which rows are answered without libtorch, with the same numbers as
  /// predict(); empty if there is no such form: for other tasks, inputs that are no vectors, and whatever the
  /// engine does not know.
  virtual std::optional<engine::RowSpec> row_spec() const;

  /// Returns the model as data for answers without libtorch, of every task: that of row_spec(), classes or
  /// counts; empty if there is no such form.
  virtual std::optional<engine::AnswerSpec> answer_spec() const;

  /// Returns the row model of row_spec(); nullptr if there is none, or if the engine is off. Made at its
  /// first use.
  std::shared_ptr<const engine::RowModel> row_model() const;

  /// Returns the training rows (numbers from 0) whose target is far from what fits without them predict, the
  /// farthest first. Known after a fit that held every row out once (`auto` in folds), not after loading;
  /// empty otherwise.
  virtual std::vector<int64_t> wild_rows() const { return {}; }

 private:
  LazyRowModel row_model_;
};

/// A fitted method whose posterior is computed exactly from sums over the rows. So it can learn rows, forget
/// rows, and join its posterior with that of other rows, all without a new training. Features, noise and
/// prior stay the same. Each operation returns a new object; this one does not change.
class SLIMBAYES_EXPORT ExactPosterior : public Fitted {
 public:
  /// Returns the method with an updated posterior: the rows `add` are learned, the rows `drop` are removed.
  /// Either may be empty. The rows of `drop` must have been learned before. The posterior equals the one
  /// computed from all remaining rows at once, up to rounding. If the posterior comes from a sample of the
  /// rows, new rows are added to the sample and none can be dropped. Throws std::invalid_argument for rows
  /// that do not fit. The method cannot check whether it has learned the rows of `drop`: it throws
  /// NumericalError only if what remains is not a posterior. Model::without knows the learned rows and checks
  /// them.
  virtual std::unique_ptr<ExactPosterior> updated(const Dataset& add, const Dataset& drop) const = 0;

  /// Returns the method with the prior in place of the posterior, as if it had learned no rows. Its updated()
  /// then gives the posterior of the added rows alone: a shard, which merged() joins with other shards.
  virtual std::unique_ptr<ExactPosterior> prior() const = 0;

  /// Returns the method with the posterior of the rows of both methods, up to rounding. A row that both have
  /// learned counts twice. Throws std::invalid_argument if the methods, features, noise or prior differ.
  virtual std::unique_ptr<ExactPosterior> merged(const ExactPosterior& other) const = 0;

  const ExactPosterior* exact_posterior() const final { return this; }
};

/// The training and validation rows of a fit. `valid` may be empty.
struct Split {
  Dataset train, valid;
};

/// The inputs of a fit other than its data.
struct FitContext {
  /// Seeds every random draw of the fit.
  Stream stream{0};
  Callback* callback = nullptr;  // watches and may stop the fit; not owned; nullptr: none
  CheckpointPolicy checkpoint = {};
  /// A network that is already trained on the rows of this fit. Methods that train a network with a linear
  /// output layer use it instead of training one; other methods ignore it. nullptr: none.
  std::shared_ptr<const TrainedNetwork> start = {};
  /// Networks trained by other fits of the same rows. A fit that needs the same network takes it from here,
  /// and adds a network that it trains. This saves time and does not change the result. Not owned; nullptr:
  /// every fit trains its own network.
  NetworkCache* networks = nullptr;
  /// Whether the validation rows of this fit were kept out of the training of `start`. If not, their errors
  /// may be too small, so a method that estimates its noise from them uses at least the network's own noise.
  bool valid_unseen = true;
  /// The time at which the user's call must end; nullopt: no limit. A fit of several parts divides the time
  /// that is left among its parts (method/timed_part.h).
  std::optional<std::chrono::steady_clock::time_point> until = {};
  /// The processes that make this fit together, on the same rows; not owned; nullptr: this process alone.
  const Collective* ranks = nullptr;
  /// The processes that run jobs of the first series of this fit (train/job_ranks.h); not owned; nullptr:
  /// this process alone. Not with `ranks`.
  JobRanks* job_ranks = nullptr;
  /// How many independent fits may run at the same time, if this fit consists of several (train/jobs.h).
  int workers = 1;
  /// Where networks are trained. A method whose catalogue entry has no `device` computes on the CPU.
  at::Device device = at::kCPU;
  /// What computes the networks; on another device than the CPU always libtorch.
  Execution execution = Execution::engine;
  /// The share of the rows that the fit leaves out because their target is wrong (data/rows/wild_rows.h). A
  /// method whose density can have tails of its own gives them this probability.
  double wild_share = 0;
};

/// Returns the context of one part of a fit that consists of several, such as a member of an ensemble or a
/// fold: that of the whole fit with the part's own stream and checkpoint.
SLIMBAYES_EXPORT FitContext part_of(const FitContext& whole, const Stream& stream,
                                    CheckpointPolicy checkpoint);

/// A method with its options, before the fit. Immutable.
class SLIMBAYES_EXPORT Method {
 public:
  virtual ~Method() = default;

  /// Fits the method. Throws std::invalid_argument for empty, mis-shaped or non-finite data, and
  /// NumericalError if the computation fails on them.
  virtual std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const = 0;
};

}  // namespace slimbayes
