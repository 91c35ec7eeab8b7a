#include "slimbayes/families/weight_space/weight_draws.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "slimbayes/core/answers.h"
#include "slimbayes/families/weight_space/running_mixture.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

Predictive predict_by_draws(const WeightDraws& draws, const Head& head, const Dataset& data,
                            const PredictOptions& options, std::string_view method) {
  return predict_rows(data, draws.input, at::kFloat, options, method, [&](const Input& input) {
    RunningMixture mixture;
    for (int64_t s = 0; s < draws.draws; ++s)
      mixture.add(head.answer(draws.network(s)(input).to(at::kDouble)));
    return mixture.mixture();
  });
}

double noise_of_draws(const WeightDraws& draws, const Dataset& rows, std::string_view method) {
  constexpr int kPoints = 49;
  const auto p = std::get<Regression>(predict_by_draws(draws, {.noise_var = 1}, rows, {}, method));
  const at::Tensor error = (targets_of(rows).to(at::kDouble) - p.mean).square();
  const double mse = std::max(error.mean().item<double>(), 1e-12);
  double best = mse, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kPoints; ++i) {
    const double noise = 1e-3 * mse * std::pow(2000.0, static_cast<double>(i) / (kPoints - 1));
    const at::Tensor var = noise + p.epistemic_var;
    const double score = (var.log() + error / var).mean().item<double>();
    if (score < least) least = score, best = noise;
  }
  return best;
}

}  // namespace slimbayes
