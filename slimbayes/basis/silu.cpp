#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/basis/basis.h"
#include "slimbayes/core/check.h"

// silu: phi(g) = s * SiLU(W g + b) (N-13; docs/references.md lists the paper N), the last hidden layer of a
// network as a basis.
//
// Start       N appendix B: W and b as in PyTorch's linear layer, U(-1/sqrt(h), 1/sqrt(h));
//             s = random signs / sqrt(r).

namespace slimbayes {

namespace {

class SiluBasis : public Basis {
 public:
  SiluBasis(const std::string& prefix, const Network::Lookup& lookup)
      : weight_(lookup(prefix + ".weight")),
        bias_(lookup(prefix + ".bias")),
        scale_(lookup(prefix + ".scale")) {
    check_shape(weight_, {-1, -1}, "silu", prefix + ".weight");
    check_shape(bias_, {rank()}, "silu", prefix + ".bias");
    check_shape(scale_, {rank()}, "silu", prefix + ".scale");
  }

  Expansion operator()(const at::Tensor& g) const override {
    return {at::silu(at::linear(g, weight_, bias_)) * scale_, {}};
  }
  int64_t inputs() const override { return weight_.size(1); }
  int64_t rank() const override { return weight_.size(0); }

 private:
  at::Tensor weight_;  // W [r, h]
  at::Tensor bias_;    // b [r]
  at::Tensor scale_;   // s [r]
};

}  // namespace

std::vector<ParameterSpec> silu_parameters(const BasisStart& start) {
  double bound = 1 / std::sqrt(static_cast<double>(start.hidden));
  const at::IntArrayRef r(start.rank);
  at::Tensor sign = at::sign(start.stream.split("sign").uniform(r) - 0.5);
  at::Tensor weight = start.stream.split("weight").uniform({start.rank, start.hidden});
  return {{start.prefix + ".weight", start.group, bound * (2 * weight - 1)},
          {start.prefix + ".bias", start.group, bound * (2 * start.stream.split("bias").uniform(r) - 1)},
          {start.prefix + ".scale", start.group, sign / std::sqrt(static_cast<double>(start.rank))}};
}

std::shared_ptr<const Basis> bind_silu(const std::string& prefix, const Network::Lookup& lookup) {
  return std::make_shared<SiluBasis>(prefix, lookup);
}

}  // namespace slimbayes
