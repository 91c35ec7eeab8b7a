#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/basis/basis.h"
#include "slimbayes/core/check.h"

// linear: phi(g) = (W g + b) / sqrt(r), the outputs of the network's last linear layer as the basis (E
// section 3.1; docs/references.md lists the papers E and N). The division by sqrt(r) makes ||phi||^2
// independent of r, as N appendix B does for silu.
//
// Start       W and b as in PyTorch's linear layer: U(-1/sqrt(h), 1/sqrt(h)).

namespace slimbayes {

namespace {

class LinearBasis : public Basis {
 public:
  LinearBasis(const std::string& prefix, const Network::Lookup& lookup)
      : weight_(lookup(prefix + ".weight")), bias_(lookup(prefix + ".bias")) {
    check_shape(weight_, {-1, -1}, "linear", prefix + ".weight");
    check_shape(bias_, {rank()}, "linear", prefix + ".bias");
  }

  Expansion operator()(const at::Tensor& g) const override {
    return {at::linear(g, weight_, bias_) / std::sqrt(static_cast<double>(rank())), {}};
  }
  int64_t inputs() const override { return weight_.size(1); }
  int64_t rank() const override { return weight_.size(0); }

 private:
  at::Tensor weight_;  // W [r, h]
  at::Tensor bias_;    // b [r]
};

}  // namespace

std::vector<ParameterSpec> linear_parameters(const BasisStart& start) {
  double bound = 1 / std::sqrt(static_cast<double>(start.hidden));
  at::Tensor weight = start.stream.split("weight").uniform({start.rank, start.hidden});
  at::Tensor bias = start.stream.split("bias").uniform(at::IntArrayRef{start.rank});
  return {{start.prefix + ".weight", start.group, bound * (2 * weight - 1)},
          {start.prefix + ".bias", start.group, bound * (2 * bias - 1)}};
}

std::shared_ptr<const Basis> bind_linear(const std::string& prefix, const Network::Lookup& lookup) {
  return std::make_shared<LinearBasis>(prefix, lookup);
}

}  // namespace slimbayes
