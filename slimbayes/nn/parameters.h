#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace slimbayes {

/// The group of tensors that lie beside the parameters and are not trained, such as running averages.
inline constexpr const char* kBuffers = "buffers";

/// A named parameter before it has memory.
struct ParameterSpec {
  std::string name;
  std::string group;  // parameters of one group lie side by side
  at::Tensor start;   // initial value; its shape is the parameter's
};

/// Every parameter of a model in one flat buffer, with named views of it. The views are autograd leaves whose
/// gradients are views of one flat gradient, so that an optimiser updates a whole group in one call and
/// zeroes it in one. Those of kBuffers have no gradient.
class Parameters {
 public:
  /// Throws std::logic_error for a repeated name.
  Parameters(const std::vector<ParameterSpec>& specs, at::ScalarType type);

  const at::Tensor& operator[](const std::string& name) const;  // throws std::logic_error if absent
  at::Tensor values(const std::string& group) const;            // [p_group] view
  at::Tensor grads(const std::string& group) const;             // [p_group] view
  bool has(const std::string& group) const { return groups_.contains(group); }
  const std::vector<std::string>& names() const { return names_; }  // in memory order
  int64_t size() const { return flat_.numel(); }                    // p

 private:
  at::Tensor flat_, grad_;  // [p]
  std::vector<std::string> names_;
  std::map<std::string, at::Tensor> views_;
  std::map<std::string, std::pair<int64_t, int64_t>> groups_;  // offset, size
};

}  // namespace slimbayes
