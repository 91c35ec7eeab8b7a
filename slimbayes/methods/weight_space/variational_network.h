#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/weight_space/variational_options.h"

namespace slimbayes {

/// A plan whose weights are trained.
struct TrainedPlan {
  const NetworkLayout& layout;
  const WeightPlan& plan;
  const WeightPosterior& weights;
  double rows;  // of the training, by their weights; of segmentation its labelled pixels
  bool pixels;  // whether the rows are pixels
};

/// The configuration of a method that trains a distribution over the weights of a network. The methods of
/// this kind differ in these fields only.
struct VariationalNetwork {
  /// Where the locations of the weights start.
  enum class Start : uint8_t {
    random,   // at the values that a network without a distribution would draw
    uniform,  // at U(-0.2, 0.2) for every matrix and bias, the start of the paper's mean-field baseline
    trained   // at the weights of a trained network: FitContext::start, or one that the fit trains first
  };

  std::string method;      // name in the catalogue
  nlohmann::json options;  // every option of the method, for the model file
  VariationalOptions variational;
  /// Returns which weights of the network are random, and how.
  std::function<WeightPlan(const NetworkLayout& layout)> plan;
  Start start = Start::random;
  /// Returns a note to the user on a fit, or "". Empty: there is never one.
  std::function<std::string(const TrainedPlan& trained)> note = {};
  /// The layers at which a classifier with inducing weights computes its out-of-distribution score
  /// (key_sites() in gradient_projection.h). Empty: it has none.
  std::vector<std::string> ood_layers = {};
  /// Whether training draws the outputs of layers in place of their weights (DrawContext::local).
  bool local = false;
  /// The radius of a sharpness-aware step (sharpness_aware() in train); 0: plain steps.
  double sharpness = 0;
  /// Whether a fit with too few epochs for kl_zero and kl_ramp shortens them (shortened() in
  /// train/schedule.h). If not, it refuses them.
  bool shortens_kl = false;
};

/// Returns the prior that these options describe.
Prior prior_of(const VariationalOptions& options);

/// Returns the plan in which every matrix is random with independent weights, and every bias too if
/// options.random_biases. All have the law `law`, the prior of the options and their start_sd.
WeightPlan independent_plan(const NetworkLayout& layout, const VariationalOptions& options,
                            const std::string& law = "gaussian");

/// Returns the method that trains the distribution on the evidence lower bound.
std::unique_ptr<Method> variational_method(VariationalNetwork network);

/// Reads a fitted network from a model file. `network` must be made from the options in that file. Throws
/// DataError or std::invalid_argument for a file that does not fit.
std::unique_ptr<Fitted> load_variational(VariationalNetwork network, const TensorFile& file);

/// Returns the registry's row of the method `name`. `of` makes a VariationalNetwork from the method's
/// options.
RegistryRow variational_row(std::string_view name,
                            std::function<VariationalNetwork(const nlohmann::json& options)> of);

}  // namespace slimbayes
