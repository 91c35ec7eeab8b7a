#include "slimbayes/theory/gaussian_complexity.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

double complexity_value(const std::vector<ComplexityLayer>& layers, double input_norm, int64_t rows,
                        double c0) {
  check(!layers.empty(), "gaussian_complexity", "at least one layer", "none");
  if (!(rows >= 1 && c0 > 0))
    refuse("gaussian_complexity", "at least one row and a C0 above 0", fmt::format("{} and {}", rows, c0));
  double product = 1, sum = 0;
  for (size_t j = 0; j < layers.size(); ++j) {
    const ComplexityLayer& layer = layers[j];
    product *= layer.spectral;
    double root = std::sqrt(static_cast<double>(layer.rank));
    if (j == 0 && layer.spectral > 0) root = std::min(root, layer.frobenius / layer.spectral);
    sum += std::pow(c0, static_cast<double>(layers.size() - 1 - j)) * root *
           std::sqrt(static_cast<double>(layer.out));
  }
  return input_norm / static_cast<double>(rows) * product * sum;
}

SampledMean one_layer_complexity(const at::Tensor& gram, int64_t rows, const ComplexityLayer& layer,
                                 const Stream& stream, int64_t draws) {
  if (!(draws >= 2 && rows >= 1))
    refuse("gaussian_complexity", "at least two draws and one row", fmt::format("{} and {}", draws, rows));
  check_shape(gram, {-1, -1}, "gaussian_complexity", "gram");
  check_shape(gram, {gram.size(0), gram.size(0)}, "gaussian_complexity", "gram");
  if (gram.scalar_type() != at::kDouble)
    refuse("gaussian_complexity", "a gram in float64", at::toString(gram.scalar_type()));
  check_finite(gram, "gaussian_complexity", "gram");
  const auto [values, vectors] = at::linalg_eigh(gram);
  const at::Tensor root = vectors * values.clamp_min(0).sqrt();  // root root^T = gram; [d, d]
  const int64_t d = gram.size(0), r = std::min({layer.rank, layer.out, d});
  std::vector<double> sums;
  for (int64_t s = 0; s < draws; ++s) {
    const at::Tensor z = stream.split(static_cast<uint64_t>(s)).normal({layer.out, d});
    sums.push_back(at::linalg_svdvals(z.mm(root.t())).narrow(0, 0, r).sum().item<double>());
  }
  const at::Tensor all = at::tensor(sums, at::kDouble) * (layer.spectral / static_cast<double>(rows));
  return {all.mean().item<double>(), all.std().item<double>() / std::sqrt(static_cast<double>(draws))};
}

}  // namespace slimbayes
