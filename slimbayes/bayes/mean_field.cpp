#include "slimbayes/bayes/mean_field.h"

#include <ATen/ATen.h>

#include <cmath>
#include <set>

namespace slimbayes {

namespace {

std::string spread_of(const std::string& name) { return name + ".spread"; }

}  // namespace

std::vector<ParameterSpec> mean_field_parameters(const std::vector<ParameterSpec>& network, double start_sd,
                                                 const std::string& spread_group) {
  const double start = std::log(std::expm1(start_sd));  // softplus(start) = start_sd
  std::vector<ParameterSpec> all = network;
  for (const ParameterSpec& one : network) {
    if (one.group != kBuffers)
      all.push_back({spread_of(one.name), spread_group, at::full_like(one.start, start), one.rate});
  }
  return all;
}

Network::Lookup mean_field_draw(const std::vector<ParameterSpec>& network, const Network::Lookup& parameters,
                                const Stream& stream) {
  std::set<std::string> buffers;
  for (const ParameterSpec& one : network)
    if (one.group == kBuffers) buffers.insert(one.name);
  return [=](const std::string& name) {
    const at::Tensor mean = parameters(name);
    if (buffers.contains(name)) return mean;
    const at::Tensor noise = stream.split(name).normal(mean.sizes(), mean.scalar_type());
    return mean + at::softplus(parameters(spread_of(name))) * noise;
  };
}

at::Tensor mean_field_kl(const std::vector<ParameterSpec>& network, const Network::Lookup& parameters,
                         double prior_sd) {
  at::Tensor sum;
  for (const ParameterSpec& one : network) {
    if (one.group == kBuffers) continue;
    const at::Tensor sd = at::softplus(parameters(spread_of(one.name))) / prior_sd;
    const at::Tensor mean = parameters(one.name) / prior_sd;
    const at::Tensor kl = (0.5 * (sd.square() + mean.square() - 1) - sd.log()).sum();
    sum = sum.defined() ? sum + kl : kl;
  }
  return sum;
}

}  // namespace slimbayes
