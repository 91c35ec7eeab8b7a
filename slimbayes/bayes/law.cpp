#include "slimbayes/bayes/law.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

const double kLogTwoPi = std::log(2 * std::numbers::pi);

at::Tensor gaussian_draw(const at::Tensor& mean, const at::Tensor& sd, const Stream& stream) {
  const bool small = mean.scalar_type() == at::kFloat;
  return at::addcmul(mean, sd,
                     small ? stream.normal_float32(mean.sizes(), mean.device())
                           : stream.normal(mean.sizes(), doubles_like(mean)));
}
at::Tensor gaussian_log_density(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& sd) {
  return -0.5 * (((x - mean) / sd).square() + kLogTwoPi) - sd.log();
}
at::Tensor gaussian_kl(const at::Tensor& mean, const at::Tensor& sd, double prior_sd) {
  const at::Tensor ratio = sd / prior_sd, shift = mean / prior_sd;
  return 0.5 * (ratio.square() + shift.square() - 1) - ratio.log();
}

/// Draws by the inverse distribution function: e = -sign(u - 1/2) log(1 - 2 |u - 1/2|), u uniform in (0, 1).
at::Tensor laplace_draw(const at::Tensor& location, const at::Tensor& scale, const Stream& stream) {
  const at::Tensor centred = stream.uniform(location.sizes(), doubles_like(location)) - 0.5;
  const at::Tensor noise = -centred.sign() * at::log1p(-2 * centred.abs());
  return location + scale * noise.to(location.scalar_type());
}
at::Tensor laplace_log_density(const at::Tensor& x, const at::Tensor& location, const at::Tensor& scale) {
  return -(x - location).abs() / scale - (2 * scale).log();
}
/// KL(Laplace(mu, b) || N(0, s^2)) = ln(2 pi s^2) / 2 + (mu^2 + 2 b^2) / (2 s^2) - 1 - ln 2b.
at::Tensor laplace_kl(const at::Tensor& location, const at::Tensor& scale, double sd) {
  const double var = sd * sd;
  return (location.square() + 2 * scale.square()) / (2 * var) - (2 * scale).log() +
         (0.5 * (kLogTwoPi + std::log(var)) - 1);
}

const std::vector<Law>& laws() {
  static const std::vector<Law> all = {
      {"gaussian", 1, gaussian_draw, gaussian_log_density, gaussian_kl},
      {"laplace", std::numbers::sqrt2, laplace_draw, laplace_log_density, laplace_kl},
  };
  return all;
}

}  // namespace

const Law& find_law(const std::string& name) {
  std::vector<std::string> known;
  for (const Law& law : laws()) {
    if (law.name == name) return law;
    known.push_back(law.name);
  }
  throw std::invalid_argument(
      fmt::format("[law] expected one of {}; received '{}'", fmt::join(known, ", "), name));
}

}  // namespace slimbayes
