// 64 pairs of draws at a time, logit by logit, so that the exponentials are those of the kernels.
#include "slimbayes/engine/classes/softmax_draws.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "slimbayes/density/class_average.h"
#include "slimbayes/density/philox.h"
#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

/// Returns sum_i log x_i for x_i from 1 to the number of classes: of products of 16, which do not overflow.
double sum_of_logs(const double* x, int64_t n) {
  constexpr int64_t kFactors = 16;
  double sum = 0;
  for (int64_t i = 0; i < n; i += kFactors) {
    double product = 1;
    for (int64_t j = i; j < std::min(n, i + kFactors); ++j) product *= x[j];
    sum += std::log(product);
  }
  return sum;
}

}  // namespace

SoftmaxDraws::SoftmaxDraws(uint64_t key, int64_t logits, int64_t samples)
    : logits_(logits), pairs_((samples + 1) / 2), z_(logits * padded(pairs_)) {
  const int64_t numbers = pairs_ * logits;  // of the stream: of each pair its logits
  std::fill_n(z_.data(), logits * padded(pairs_), 0.0);
  const auto keep = [&](int64_t i, double z) {
    if (i < numbers) z_.data()[i % logits * padded(pairs_) + i / logits] = z;
  };
  for (int64_t i = 0; i < numbers; i += 2) {
    const auto [first, second] = philox::normals(key, static_cast<uint64_t>(i / 2));
    keep(i, first);
    keep(i + 1, second);
  }
}

template <class Offsets>
double SoftmaxDraws::averaged(std::span<const double> mean, std::span<double> p, double* work,
                              Offsets offsets) const {
  constexpr int64_t n = kTogether;
  const int64_t k = logits_;
  double *const offset = work, *const f = offset + k * n, *const e = f + k * n, *const most = e + k * n,
                *const sum = most + n, *const turned = sum + n, *const none = turned + n;
  std::ranges::fill(p, 0.0);
  std::fill_n(none, n, 0.0);
  double expected = 0;
  for (int64_t first = 0; first < pairs_; first += n) {
    const int64_t draws = std::min(n, pairs_ - first);
    for (int64_t c = 0; c < k; ++c) offsets(c, first, offset + c * n);
    for (const double sign : {1.0, -1.0}) {  // antithetic draws
      for (int64_t c = 0; c < k; ++c) {
        const double centre = mean[static_cast<size_t>(c)];
        for (int64_t s = 0; s < n; ++s) f[c * n + s] = centre + sign * offset[c * n + s];
      }
      std::copy_n(f, n, most);
      for (int64_t c = 1; c < k; ++c)
        for (int64_t s = 0; s < n; ++s) most[s] = std::max(most[s], f[c * n + s]);
      for (int64_t c = 0; c < k; ++c)
        for (int64_t s = 0; s < n; ++s) e[c * n + s] = f[c * n + s] -= most[s];
      for (int64_t c = 0; c < k; ++c) kernels::kernels().exp_differences64({1, n, n}, e + c * n, none, 0);
      std::fill_n(sum, 2 * n, 0.0);  // and `turned`
      for (int64_t c = 0; c < k; ++c)
        for (int64_t s = 0; s < n; ++s) {
          sum[s] += e[c * n + s];
          turned[s] += e[c * n + s] * f[c * n + s];
        }
      expected += sum_of_logs(sum, draws);
      for (int64_t s = 0; s < draws; ++s) {
        sum[s] = 1 / sum[s];
        expected -= turned[s] * sum[s];
      }
      for (int64_t c = 0; c < k; ++c) {
        double share = 0;
        for (int64_t s = 0; s < draws; ++s) share += e[c * n + s] * sum[s];
        p[static_cast<size_t>(c)] += share;
      }
    }
  }
  normalise(p);
  return expected / static_cast<double>(2 * pairs_);
}

double SoftmaxDraws::average(std::span<const double> mean, std::span<const double> sd, std::span<double> p,
                             double* work) const {
  return averaged(mean, p, work, [&](int64_t c, int64_t first, double* offset) {
    const double* z = z_.data() + c * padded(pairs_) + first;
    const int64_t there = std::min(kTogether, padded(pairs_) - first);
    std::fill(offset + there, offset + kTogether, 0.0);
    for (int64_t s = 0; s < there; ++s) offset[s] = sd[static_cast<size_t>(c)] * z[s];
  });
}

double SoftmaxDraws::average_correlated(std::span<const double> mean, std::span<const double> root,
                                        std::span<double> p, double* work) const {
  return averaged(mean, p, work, [&](int64_t c, int64_t first, double* offset) {
    const int64_t there = std::min(kTogether, padded(pairs_) - first);
    std::fill_n(offset, kTogether, 0.0);
    for (int64_t j = 0; j < logits_; ++j) {
      const double *z = z_.data() + j * padded(pairs_) + first,
                   factor = root[static_cast<size_t>(c * logits_ + j)];
      for (int64_t s = 0; s < there; ++s) offset[s] += factor * z[s];
    }
  });
}

}  // namespace slimbayes::engine
