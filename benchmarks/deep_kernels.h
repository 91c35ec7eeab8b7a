#pragma once

#include "benchmarks/sizes.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/methods/deep_kernel/deep_kernel_model.h"

namespace slimbayes {

/// Returns the DeepKernel of an expansion and the objective that trains it. `correction` is the term that the
/// expansion adds to the variance; `focus` is the weight of rows by their variance.
inline DeepKernel deep_kernel(const std::string& basis, const HeadObjective& objective,
                              DeepKernel::Correction correction = DeepKernel::Correction::none,
                              double focus = 0) {
  DeepKernel kernel;
  kernel.method = "benchmark";
  kernel.network = [](const Shape& input, int64_t) { return tabular_resnet(input.width(), kHidden, 2); };
  kernel.basis = basis;
  kernel.rank = kRank;
  kernel.objective = objective;
  kernel.correction = correction;
  kernel.focus = {focus, 1};
  return kernel;
}

inline DeepKernel vbll(const std::string& basis) { return deep_kernel(basis, {DataTerm::expected, 0, 1}); }
inline DeepKernel dppgp(const std::string& basis) {  // with focus, the costlier phase of a fit
  return deep_kernel(basis, {DataTerm::predictive, 0.01, 0.01}, DeepKernel::Correction::none, 0.5);
}
inline DeepKernel svgp() {
  return deep_kernel("rbf", {DataTerm::expected, 0, 1}, DeepKernel::Correction::kernel);
}
inline DeepKernel ppgp() {
  return deep_kernel("rbf", {DataTerm::predictive, 0, 0.01}, DeepKernel::Correction::kernel, 0.5);
}

}  // namespace slimbayes
