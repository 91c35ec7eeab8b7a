#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/ntk/gradient_model.h"
#include "slimbayes/ntk/gradient_sketch.h"

namespace slimbayes {

/// The features and the outputs of a network's last layer at b rows.
struct LastLayerRows {
  at::Tensor features;  // [b, r] phi_r, the gradient of an output with respect to the last layer's parameters
                        // and, with a sketch, [b, r + q]
  at::Tensor output;    // [b, k] the network's outputs
};

/// A network split before its output layer: it returns the features of that layer and its output. The
/// features are phi_r(x) = (s h(x), t), where h(x) are the inputs of the output layer, and s and t the
/// multipliers of its weights and bias (Scales; both are 1 in PyTorch's parametrisation). Without a bias the
/// features are s h(x). This is equation 5 of Rich-BLL, with multipliers. An immutable value.
class LastLayerFeatures {
 public:
  /// `spec` ends in a Linear layer; its tensors are named "network.0.weight", ... Throws
  /// std::invalid_argument for a network that ends in another layer. The message begins with `method`.
  LastLayerFeatures(const NetworkSpec& spec, const Network::Lookup& lookup, std::string_view method);
  explicit LastLayerFeatures(const ScriptNetwork& module);  // s = t = 1
  /// Returns these features followed by those of the sketch. With several outputs the sketch is that of the
  /// gradient of the largest one. The rows go through the network twice.
  LastLayerFeatures with_sketch(const GradientSketch& sketch) const;

  LastLayerRows operator()(const Input& input) const { return rows_(input); }  // input of type()
  int64_t rank() const { return rank_; }                                       // r
  int64_t outputs() const { return outputs_; }                                 // k
  bool needs_gradients() const { return sketched_; }  // PredictOptions::gradients of a pass over rows
  at::ScalarType type() const { return type_; }       // of the weights

 private:
  LastLayerFeatures() = default;

  std::function<LastLayerRows(const Input&)> rows_;
  int64_t rank_ = 0, outputs_ = 0;
  at::ScalarType type_ = at::kFloat;
  bool sketched_ = false;
};

/// Returns the rows on the CPU, where the posteriors are.
LastLayerRows on_cpu(const LastLayerRows& rows);

/// Returns where the passes of a network run if they shall run on `wanted`: there, but a module's on the CPU.
at::Device device_for(const TrainedNetwork& network, at::Device wanted);
at::Device device_for(const FitContext& context);  // of the network that the fit starts from or trains

/// Returns the features of a trained network in the type in which it was trained, followed by `sketch` random
/// features of the gradient with respect to the earlier layers (ntk/gradient_sketch.h; the same random signs
/// for every network). The weights are copied to `device`, which is device_for() the network, and so must be
/// the inputs. The result may outlive `network`.
LastLayerFeatures last_layer_features(const TrainedNetwork& network, std::string_view method,
                                      int64_t sketch = 0, at::Device device = at::kCPU);

/// Returns the features from which a posterior's statistics are computed. They are float64, so that removing
/// a row subtracts the same numbers that adding it added, whatever batch it was in. There are two exceptions,
/// whose features differ by float32 rounding from batch to batch: images use float32, because float64
/// convolutions take several times as long, and a module uses its own type. `device` as in
/// last_layer_features().
LastLayerFeatures statistics_features(const TrainedNetwork& network, std::string_view method,
                                      int64_t sketch = 0, at::Device device = at::kCPU);

/// Returns h(x) and the network's output of single rows (engine/features.h), computed in `type`, as data;
/// with a sketch the features of with_sketch(). Empty if the engine cannot compute it.
std::optional<engine::FeatureSpec> last_layer_spec(const TrainedNetwork& network, at::ScalarType type,
                                                   int64_t sketch = 0);

/// Returns the number of features of a network: the width before its Linear output layer, plus 1 for a bias.
/// Throws as LastLayerFeatures.
int64_t last_layer_rank(const NetworkSpec& spec, std::string_view method);

/// Returns the trained weights of the output layer, with the bias (if any) as last column, so that the output
/// is features * weights^T. Float64. [k, r]
at::Tensor output_weights(const TrainedNetwork& network);

/// Returns the features for answers: those of statistics_features if `precise`, else those of
/// last_layer_features. Set `precise` if the prior is so wide compared with the noise that the float32
/// rounding of a feature would show in the variance; the posterior's IdentityPlus then has no Cholesky
/// factor. `device` as in last_layer_features().
LastLayerFeatures answer_features(const TrainedNetwork& network, bool precise, std::string_view method,
                                  int64_t sketch = 0, at::Device device = at::kCPU);

/// Returns the function that gives the gradients of the outputs with respect to all parameters except the
/// last layer's. It computes in `type` on `device`; a module computes in its own type, on the CPU.
GradientModel last_layer_gradients(const TrainedNetwork& network, at::ScalarType type = at::kFloat,
                                   at::Device device = at::kCPU);

/// Returns whether the rows of this network are images [channels, height, width].
bool takes_images(const TrainedNetwork& network);

}  // namespace slimbayes
