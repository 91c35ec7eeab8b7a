#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "slimbayes/basis/basis.h"
#include "slimbayes/core/check.h"

// fourier: phi(g) = s sqrt(2 / r) cos(W g + b), random Fourier features of an RBF kernel (Rahimi and Recht
// 2007, algorithm 1), whose frequencies W, phases b and amplitude s are then learned. The papers N and E
// (docs/references.md) do not use it.
//
// Start       W ~ N(0, 1 / h), the spectrum of an RBF kernel with lengthscale sqrt(h), as in N appendix B;
//             b ~ U[0, 2 pi]; s = 1. Then E <phi(g), phi(g')> = exp(-||g - g'||^2 / (2 h)).

namespace slimbayes {

namespace {

class FourierBasis : public Basis {
 public:
  FourierBasis(const std::string& prefix, const Network::Lookup& lookup)
      : weight_(lookup(prefix + ".weight")),
        bias_(lookup(prefix + ".bias")),
        log_amplitude_(lookup(prefix + ".log_amplitude")) {
    check_shape(weight_, {-1, -1}, "fourier", prefix + ".weight");
    check_shape(bias_, {rank()}, "fourier", prefix + ".bias");
    check_shape(log_amplitude_, {}, "fourier", prefix + ".log_amplitude");
  }

  Expansion operator()(const at::Tensor& g) const override {
    double root = std::sqrt(2 / static_cast<double>(rank()));
    return {at::cos(at::linear(g, weight_, bias_)) * (root * at::exp(log_amplitude_)), {}};
  }
  int64_t inputs() const override { return weight_.size(1); }
  int64_t rank() const override { return weight_.size(0); }

 private:
  at::Tensor weight_;         // W [r, h]
  at::Tensor bias_;           // b [r]
  at::Tensor log_amplitude_;  // log s, scalar
};

}  // namespace

std::vector<ParameterSpec> fourier_parameters(const BasisStart& start) {
  at::Tensor weight = start.stream.split("weight").normal({start.rank, start.hidden});
  at::Tensor bias = start.stream.split("bias").uniform(at::IntArrayRef{start.rank});
  return {
      {start.prefix + ".weight", start.group, weight / std::sqrt(static_cast<double>(start.hidden))},
      {start.prefix + ".bias", start.group, 2 * std::numbers::pi * bias},
      {start.prefix + ".log_amplitude", start.group, at::zeros({}, at::kDouble)},
  };
}

std::shared_ptr<const Basis> bind_fourier(const std::string& prefix, const Network::Lookup& lookup) {
  return std::make_shared<FourierBasis>(prefix, lookup);
}

}  // namespace slimbayes
