#include "slimbayes/methods/dbk_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

DbkModel::DbkModel(const DbkOptions& options, const NetworkSpec& spec, const Network::Lookup& lookup)
    : backbone(spec, "backbone", lookup),
      basis(SiluBasis::bind("basis", lookup)),
      posterior{lookup("posterior.mean"), lookup("posterior.log_diagonal"), lookup("posterior.lower")},
      offset(lookup("offset")),
      log_noise(lookup("log_noise")),
      noise_floor(options.noise_floor) {
  int64_t r = options.rank;
  check_shape(basis.weight, {r, options.backbone.hidden}, "dbk", "basis.weight");
  check_shape(posterior.mean, {r}, "dbk", "posterior.mean");
  check_shape(posterior.log_diagonal, {r}, "dbk", "posterior.log_diagonal");
  check_shape(posterior.lower, {r, r}, "dbk", "posterior.lower");
  check_shape(offset, {}, "dbk", "offset");
  check_shape(log_noise, {}, "dbk", "log_noise");
}

at::Tensor DbkModel::features(const at::Tensor& x) const { return basis(backbone(x)); }

at::Tensor DbkModel::noise_var() const { return at::exp(log_noise) + noise_floor; }

DppgpLoss DbkModel::backward(const at::Tensor& x, const at::Tensor& y, int64_t rows, double alpha,
                             double beta, double focus) const {
  at::Tensor phi = features(x);  // with a graph; everything after it is in closed form
  DppgpGradient g =
      dppgp_gradient(phi.detach(), y, posterior, offset, noise_var().detach(), rows, alpha, beta, focus);
  phi.backward(g.grad_features);
  posterior.mean.grad().add_(g.grad_mean);
  posterior.log_diagonal.grad().add_(g.grad_log_diagonal);
  posterior.lower.grad().add_(g.grad_lower);
  offset.grad().add_(g.grad_offset);
  log_noise.grad().add_(g.grad_noise_var * at::exp(log_noise.detach()));
  return g.loss;
}

Parameters dbk_parameters(const DbkOptions& options, const NetworkSpec& spec, const Stream& stream) {
  int64_t r = options.rank;
  std::vector<ParameterSpec> specs =
      network_parameters(spec, "backbone", "backbone", stream.split("backbone"));
  for (ParameterSpec& each :
       silu_parameters(options.backbone.hidden, r, "basis", "head", stream.split("basis"))) {
    specs.push_back(std::move(each));
  }
  double size = static_cast<double>(r);
  check(options.noise_start > options.noise_floor, "dbk", "noise_start above noise_floor",
        fmt::format("{} and {}", options.noise_start, options.noise_floor));
  double log_noise = std::log(options.noise_start - options.noise_floor);
  specs.push_back({"posterior.mean", "head", at::zeros({r}, at::kDouble)});
  specs.push_back({"posterior.log_diagonal", "head", at::full({r}, -0.5 * std::log(size), at::kDouble)});
  specs.push_back({"posterior.lower", "head", stream.split("posterior").normal({r, r}) / size});
  specs.push_back({"offset", "head", at::zeros({}, at::kDouble)});
  specs.push_back({"log_noise", "noise", at::full({}, log_noise, at::kDouble)});
  return Parameters(specs, at::kFloat);
}

}  // namespace slimbayes
