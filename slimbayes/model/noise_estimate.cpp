#include "slimbayes/model/noise_estimate.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

using nlohmann::json;

json to_json(const NoiseEstimate& noise) {
  json out = {{"folds", noise.folds},
              {"rows", noise.rows},
              {"var", noise.var},
              {"sd", noise.sd},
              {"notes", noise.notes}};
  if (noise.interrupted) out["interrupted"] = true;
  return out;
}

NoiseEstimate noise_from_json(const json& given) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const JsonReader read(given, "noise");
  NoiseEstimate noise{
      read.count("folds", 0, kMost), read.count("rows", 0, kMost), read.number("var"), read.number("sd"),
      read.has("interrupted"),       read.texts("notes")};
  if (!(noise.var >= 0))
    refuse("load", "a noise variance of at least 0", fmt::format("{}", noise.var),
           "the model file is damaged");
  return noise;
}

double noise_variance(const at::Tensor& residuals, const at::Tensor& var, const at::Tensor& weight) {
  const at::Tensor r2 = residuals.to(at::kDouble).square(), v = var.to(at::kDouble);
  const auto cost = [&](double noise) {  // -2 log likelihood, up to a constant
    const at::Tensor total = v + noise;
    return (weight * (total.log() + r2 / total)).sum().item<double>();
  };
  // For a noise above the largest r^2 - v, the cost of every row rises with the noise, so the minimum lies
  // below. There may be several minima there, so a grid over 12 decades finds the lowest.
  const double most = (r2 - v).max().item<double>();
  if (!(most > 0)) return 0;
  constexpr int64_t kGrid = 120;
  const double step = std::log(1e12) / kGrid, end = std::log(most);
  const auto at = [&](double log_noise) { return cost(std::exp(log_noise)); };
  int64_t best = 0;
  for (int64_t i = 1; i <= kGrid; ++i) {
    if (at(end - step * static_cast<double>(i)) < at(end - step * static_cast<double>(best))) best = i;
  }
  const double middle = end - step * static_cast<double>(best);
  // Near a minimum the cost is flat: its place can be found to half of the digits of a double only.
  constexpr int kBits = std::numeric_limits<double>::digits / 2;
  std::uintmax_t most_steps = 100;
  const auto [log_noise, least] =
      boost::math::tools::brent_find_minima(at, middle - step, middle + step, kBits, most_steps);
  const bool none = v.min().item<double>() > 0 && cost(0) <= least;  // a total variance of 0 has no density
  return none ? 0 : std::exp(log_noise);
}

}  // namespace slimbayes
