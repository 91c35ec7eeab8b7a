#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

// The engine computes networks on the CPU without libtorch. A Plan is made once from a NetworkSpec; it is a
// list of operations whose sizes and places in memory are known. A batch passes in chunks of at most
// kChunkRows rows, so that what an operation writes is still in the cache when the next one reads it.

/// The largest number of rows of a chunk: a multiple of the rows of a tile in kernels/products.cpp.
inline constexpr int64_t kChunkRows = 60;

/// A place on the tape of a chunk: an array [kChunkRows, width] with padded rows.
struct Slot {
  int64_t offset = 0, width = 0;

  int64_t ld() const { return kernels::padded(width); }
  kernels::Rows of(int64_t rows) const { return {rows, width, ld()}; }
};

/// A slot for each step of a sequence. That of the first step is a usual one; those of the others lie behind
/// all slots, one after the other from `others` on. A pass that keeps nothing uses the first for all steps,
/// and then needs no memory for the others.
struct StepSlots : Slot {
  int64_t others = 0;
};

/// y = x W^T + b, times the multipliers of Scales. `weight` [out, in] and `bias` [out] are indices of
/// tensors.
struct DenseStep {
  Slot in, out;
  size_t weight = 0, bias = kNone;
  float weight_scale = 1, bias_scale = 1;
  bool input_gradient = true;                     // false if no layer before it has parameters
  int64_t transposed = 0, padded = 0, shift = 0;  // offsets of the packed W^T, W and b

  static constexpr size_t kNone = static_cast<size_t>(-1);
};

/// An activation function in place. `slope` keeps its derivative.
struct ActivationStep {
  enum class Function : uint8_t { silu, tanh, relu, mish, smooth_clip };
  Slot at, slope;
  Function function = Function::silu;
};

/// The layer norm.
struct NormStep {
  Slot in, out, unit;
  int64_t inverse_sd = 0;  // offset on the tape, kChunkRows floats
  size_t scale = 0, shift = 0;
  int64_t packed_scale = 0, packed_shift = 0;
};

/// Copies a row, so that the next step may change it in place.
struct CopyStep {
  Slot in, out;
};

/// Where a residual begins. Backward adds the gradient of its shortcut here.
struct ForkStep {
  Slot at;
  int64_t depth = 0;
};

/// Where a residual ends: body += shortcut.
struct JoinStep {
  Slot body, shortcut;
  int64_t depth = 0;
};

/// y = x * scale, feature by feature.
struct ScaleStep {
  Slot in, out;
  size_t scale = 0;
  int64_t packed_scale = 0;
};

/// The embedding of each number of a row by cosines (Periodic). No trained step precedes it, so that backward
/// ends here.
struct PeriodicStep {
  Slot in, out, cosine, sine;
  int64_t frequencies = 0, width = 0;  // of each number: cosines, and features that go out
  size_t frequency = 0, phase = 0, weight = 0, shift = 0;
  int64_t packed_frequency = 0, packed_phase = 0, packed_weight = 0, packed_shift = 0;
};

/// A dropout: multiplies by factors that come with a pass, or leaves the values as they are.
struct DropoutStep {
  Slot at, factors;
  int64_t active = 0;  // offset of a float on the tape: 1 if the pass came with factors, else 0
  size_t index = 0;    // of the layer in Plan::dropouts()
};

/// A batch norm at prediction: y = x * scale + shift by the running averages. Its backward pass is not known.
struct BatchNormStep {
  Slot in, out;
  size_t scale = 0, shift = 0, mean = 0, var = 0;
  int64_t packed_scale = 0, packed_shift = 0;
};

/// An LSTM over the steps of a sequence, whose rows lie flat: [rows, steps * features] to the hidden states
/// of the last `kept` steps, [rows, kept * units].
struct LstmStep {
  Slot in, out;
  int64_t steps = 0, kept = 0, features = 0, units = 0;
  StepSlots joined = {};  // and one more: the hidden state before a step, then its input, each padded
  StepSlots gates = {};   // the four gates, each padded
  StepSlots cells = {}, squashed = {};
  Slot grad_hidden = {}, grad_cell = {}, grad_input = {};  // of one step, for backward
  int64_t grad_weights = 0;  // offset on the tape: of both weights, [gates, joined], and of the gates' sums
  size_t weight_ih = 0, weight_hh = 0, bias_ih = 0, bias_hh = DenseStep::kNone;
  bool input_gradient = true;  // false if no layer before it has parameters
  int64_t transposed = 0;      // offsets of packed values: of both weights for `joined`, [joined, gates]
  int64_t of_hidden = 0, of_input = 0, shift = 0;  // W_hh and W_ih with a padded row for each gate; biases
};

/// Takes some columns of a row: the last step of a sequence.
struct ColumnsStep {
  Slot in, out;
  int64_t first = 0;
};

/// The mean of the vectors of a text's tokens, each plus that of its position (Embedding, MeanOverSteps). A
/// row holds the numbers of its tokens, then zeros (kPadding of encoding/text.h). A number that is none of
/// the vectors' counts as the last one. Its backward pass is not known.
struct TokenMeanStep {
  Slot in, out;
  int64_t tokens = 0;  // vectors
  size_t vectors = 0, positions = DenseStep::kNone;
  int64_t packed_vectors = 0, packed_positions = 0;
};

using Step = std::variant<DenseStep, ActivationStep, NormStep, CopyStep, ForkStep, JoinStep, ScaleStep,
                          PeriodicStep, DropoutStep, BatchNormStep, LstmStep, ColumnsStep, TokenMeanStep>;

/// A dropout layer of a plan.
struct DropoutLayer {
  std::string name;
  double rate = 0;  // > 0
  int64_t width = 0;
};

/// The factors of a pass, 0 or 1 / (1 - rate): for each of Plan::dropouts() an array [rows, width],
/// contiguous. Empty: no dropout is active.
using DropoutFactors = std::span<const float* const>;

/// The passes of a network as a list of operations. plan.cpp makes the list, passes.cpp runs it. It holds no
/// values: parameters come as pointers in the order of tensors(), each contiguous float32.
class Plan {
 public:
  /// Starts a plan for rows of `inputs` numbers, with no operation.
  explicit Plan(int64_t inputs);

  /// Appends the layers of a network, whose tensors are named as shapes_of(spec, prefix) says. Returns "" or
  /// why the plan cannot compute it, such as "attention"; the plan is then of no use.
  std::string append(const NetworkSpec& spec, const std::string& prefix);
  /// Append single operations: y = x W^T + b (without b if `bias` is empty), an activation, y = x * scale.
  void append_dense(const std::string& weight, const std::string& bias, int64_t out,
                    const Scales& scales = {});
  void append_activation(ActivationStep::Function function);
  void append_scale(const std::string& scale);

  /// Returns the layers of dropout with a rate above zero, in the order in which they run.
  const std::vector<DropoutLayer>& dropouts() const { return dropouts_; }
  /// Returns whether these are all of the network's; the plan has none of those on the vectors of tokens.
  bool has_every_dropout() const { return every_dropout_; }
  int64_t tokens() const { return tokens_; }  // different ones of a text; 0 for a network of numbers
  /// Returns whether backward() knows every step. A batch norm and tokens are known for predictions alone.
  bool trains() const { return trains_; }
  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return at_.width; }
  const Slot& result() const { return at_; }  // where a pass leaves the outputs
  const std::vector<Step>& steps() const { return steps_; }
  /// Returns the names of the parameters.
  const std::vector<std::string>& tensors() const { return tensors_; }
  /// Returns how many elements each of them has.
  const std::vector<int64_t>& sizes() const { return sizes_; }
  /// Returns the numbers of floats that pack() writes, that a chunk's tape has, and that backward() needs
  /// beside it.
  int64_t packed_floats() const { return packed_; }
  int64_t tape_floats(bool keep) const { return tape_ + (keep ? others_ : 0); }
  int64_t work_floats() const { return (2 + depth_) * work_slot(); }

  /// Copies the parameters into the layout that the passes read. Call it when they have changed.
  void pack(const kernels::Kernels& kernels, std::span<const float* const> values, float* packed) const;

  /// Computes `rows` rows, at most kChunkRows. x [rows, inputs] with row stride ldx. Returns the outputs, an
  /// array on the tape [rows, outputs] with padded rows. `keep`: backward() follows, and `tape` has
  /// tape_floats(keep) floats. `first` is the number of the first row among those of `factors`.
  float* forward(const kernels::Kernels& kernels, const float* packed, const float* x, int64_t ldx,
                 int64_t rows, float* tape, bool keep, DropoutFactors factors = {}, int64_t first = 0) const;

  /// Adds to each of `gradients` that is not nullptr the gradient of its parameter. The gradient of the
  /// outputs, [rows, outputs] with padded rows, must stand at the start of `work`, which is changed. The
  /// gradient of x is not computed. `seen` is called for each step from the last to the first, with the
  /// gradient of its output, padded. Requires trains().
  using Seen = std::function<void(size_t step, const float* gradient)>;
  void backward(const kernels::Kernels& kernels, const float* packed, int64_t rows, float* tape, float* work,
                std::span<float* const> gradients, const Seen& seen = {}) const;

 private:
  std::string append(const LayerSpec& layer, const Shape& input, const std::string& name);
  void append_dropout(const std::string& name, double rate);
  std::string append_periodic(const Periodic& layer, const std::string& name);
  void append_norm(const std::string& name);
  std::string append_residual(const Residual& layer, Shape shape, const std::string& name);
  void append_batch_norm(const std::string& name);
  void append_lstm(const Lstm& layer, const Shape& input, const std::string& name, bool last_alone);
  void append_last_step(const Shape& input);
  size_t append_token_mean(const NetworkSpec& spec, const std::string& prefix);
  void release();
  Slot new_slot(int64_t width);
  StepSlots new_step_slots(int64_t steps, int64_t width);
  size_t tensor(const std::string& name, int64_t size);
  int64_t new_packed(int64_t floats);
  int64_t work_slot() const { return kChunkRows * kernels::padded(widest_); }

  int64_t inputs_, packed_ = 0, tape_ = 0, others_ = 0, widest_ = 0, depth_ = 0;
  Slot at_;            // the output of the last operation
  bool held_ = false;  // whether at_ must keep its values: it is the input, or a shortcut
  bool trains_ = true, every_dropout_ = true;
  int64_t tokens_ = 0;
  int64_t open_ = 0;  // residuals that have begun and not ended
  std::vector<std::string> tensors_;
  std::vector<int64_t> sizes_;
  std::vector<DropoutLayer> dropouts_;
  std::vector<Step> steps_;
};

}  // namespace slimbayes::engine
