#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace slimbayes {

/// The group of tensors that belong to the model but are not trained, such as running averages.
inline constexpr const char* kBuffers = "buffers";

/// The name, group and initial value of a parameter; Parameters allocates its memory.
struct ParameterSpec {
  std::string name;
  std::string group;  // parameters of one group are contiguous in memory
  at::Tensor start;   // initial value; the parameter has its shape
  double rate = 1;    // multiplies the learning rate of the group
  double decay = 1;   // multiplies the weight decay of the group
};

/// Parameters of one group that are neighbours in memory and have the same factors `rate` and `decay`. The
/// optimiser updates a block in one call.
struct ParameterBlock {
  std::string group;
  double rate, decay;           // the factors of ParameterSpec
  at::Tensor values, gradient;  // [p_block] views
};

/// All parameters of a model in one flat buffer, with a named view for each. The views are autograd leaves,
/// and their gradients are views of one flat gradient, so that an optimiser updates or zeroes a whole group
/// in one call. The views of the group kBuffers have no gradient.
class Parameters {
 public:
  /// Allocates the parameters with this type and device and copies their initial values. Throws
  /// std::logic_error for a repeated name.
  Parameters(const std::vector<ParameterSpec>& specs, const at::TensorOptions& options);

  const at::Tensor& operator[](const std::string& name) const;  // throws std::logic_error if absent
  at::Tensor values(const std::string& group) const;            // [p_group] view
  at::Tensor grads(const std::string& group) const;             // [p_group] view
  /// Returns the blocks of all trained parameters in memory order. Buffers (kBuffers) belong to no block.
  std::vector<ParameterBlock> blocks() const;
  bool has(const std::string& group) const { return groups_.contains(group); }
  const std::vector<std::string>& names() const { return names_; }  // in memory order
  at::Device device() const { return flat_.device(); }
  int64_t size() const { return flat_.numel(); }  // p, the number of scalars, buffers included

 private:
  at::Tensor flat_, grad_;  // [p]
  std::vector<std::string> names_;
  std::map<std::string, at::Tensor> views_;
  std::map<std::string, std::pair<int64_t, int64_t>> groups_;  // offset, size
  struct Stretch {
    std::string group;
    double rate, decay;
    int64_t offset, size;
  };
  std::vector<Stretch> stretches_;  // in memory order
};

}  // namespace slimbayes
