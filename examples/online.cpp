// Learns while rows arrive and are withdrawn: the exact Bayesian posterior of a linear model on r frozen
// features. Adding or removing a row costs O(r^2). The evidence compares noise variances without another pass
// over the data. Compile with examples/CMakeLists.txt; run without arguments.
#include <ATen/ATen.h>
#include <slimbayes/slimbayes.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <utility>

namespace sb = slimbayes;

namespace {

/// Returns random Fourier features of an RBF kernel; any frozen network could take their place. [n] -> [n,
/// 64]
at::Tensor features(const at::Tensor& x) {
  const sb::Stream stream(1);
  const at::Tensor frequency = 4 * stream.split("frequency").normal({64});
  const at::Tensor phase = 2 * std::numbers::pi * stream.split("phase").uniform({64});
  return std::sqrt(2.0 / 64) * at::cos(x.unsqueeze(1) * frequency + phase);
}

/// Returns the 100 rows of hour t: sin 3x + noise. In hour 3 the sensor was off by one.
sb::LinearRows hour(uint64_t t) {
  const sb::Stream stream = sb::Stream(3).split(t);
  const at::Tensor x = 2 * stream.split("x").uniform({100}) - 1;
  const at::Tensor y = at::sin(3 * x) + 0.1 * stream.split("noise").normal({100}) + (t == 3 ? 1.0 : 0.0);
  return {features(x), y, {}};
}

void show(const char* when, const sb::LinearPosterior& p) {
  const at::Tensor here = features(at::tensor({0.5, 2.0}, at::kDouble));  // inside the data, and far outside
  const at::Tensor f = sb::mean(p, here), sd = sb::epistemic_var(p, here).sqrt();
  std::printf("%-18s f(0.5) = %6.3f +- %.3f (truth %.3f)   f(2) = %6.3f +- %.3f\n", when, f[0].item<double>(),
              sd[0].item<double>(), std::sin(1.5), f[1].item<double>(), sd[1].item<double>());
}

}  // namespace

int main() {
  sb::LinearPosterior p =
      sb::linear_posterior(sb::linear_statistics(64), {.sigma2 = 0.01, .prior_factor = {}});
  show("before any data", p);
  for (uint64_t t = 0; t < 6; ++t) {
    p = sb::added(std::move(p), hour(t));  // in place
    show(("with hour " + std::to_string(t)).c_str(), p);
  }
  p = sb::removed(std::move(p), hour(3));
  show("without hour 3", p);

  for (const double sigma2 : {1e-3, 1e-2, 1e-1}) {  // the same statistics serve each one
    const auto other = sb::linear_posterior(p.statistics, {.sigma2 = sigma2, .prior_factor = {}});
    std::printf("noise variance %.3f: log evidence %.1f\n", sigma2, sb::log_evidence(other));
  }
}
