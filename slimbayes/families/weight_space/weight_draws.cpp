#include "slimbayes/families/weight_space/weight_draws.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/class_likelihood.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

Predictive predict_by_draws(const WeightDraws& draws, double noise_var, const Dataset& data,
                            const PredictOptions& options, std::string_view method) {
  std::vector<Predictive> answers;
  for (int64_t s = 0; s < draws.draws; ++s) {
    const auto network = draws.network(s);
    answers.push_back(
        predict_rows(data, draws.input, at::kFloat, options, method, [&](const Input& input) -> Predictive {
          const at::Tensor output = network(input).to(at::kDouble);
          if (noise_var == 0) return classes_of_logits(output);
          const at::Tensor mean = output.squeeze(-1);
          return Regression{mean, at::full_like(mean, noise_var), at::zeros_like(mean)};
        }));
  }
  return mixture(answers);
}

double noise_of_draws(const WeightDraws& draws, const Dataset& rows, std::string_view method) {
  constexpr int kPoints = 49;
  const auto p = std::get<Regression>(predict_by_draws(draws, 1, rows, {}, method));
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
