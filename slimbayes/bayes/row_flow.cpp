#include "slimbayes/bayes/row_flow.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns the degree of each of `hidden` units, spread evenly from 1 to features - 1: a unit of degree d
/// sees the elements 1..d. One unit alone has the highest degree. [hidden]
at::Tensor hidden_degrees(int64_t features, int64_t hidden, const at::TensorOptions& whole) {
  const int64_t highest = std::max<int64_t>(1, features - 1);
  if (hidden == 1) return at::full({1}, highest, whole);
  return at::arange(hidden, whole).mul_(highest - 1).div_(hidden - 1, "floor").add_(1);
}

/// Returns the masks of the weights of each layer, made on this device: nothing is copied there.
std::vector<at::Tensor> masks_of(const RowFlowSpec& spec, at::Device device) {
  const at::TensorOptions whole = at::dtype(at::kLong).device(device);
  const at::Tensor inputs = at::arange(1, spec.features + 1, whole),
                   units = hidden_degrees(spec.features, spec.hidden, whole);
  std::vector<at::Tensor> masks = {units.unsqueeze(1) >= inputs};
  for (int64_t l = 1; l < spec.layers; ++l) masks.push_back(units.unsqueeze(1) >= units);
  const at::Tensor last = inputs.unsqueeze(1) > units;  // element j sees the units of a lower degree
  masks.push_back(spec.form == FlowForm::certified ? last : at::cat({last, last}));
  return masks;
}

/// Returns the largest singular value of W, a scalar. Differentiable.
at::Tensor spectral_norm(const at::Tensor& w) { return at::linalg_matrix_norm(w, 2); }

/// The inverse of softplus at 1.
double softplus_one() { return std::log(std::expm1(1.0)); }

}  // namespace

RowFlow::RowFlow(RowFlowSpec spec) : spec_(spec) {
  if (!(spec.features > 0 && spec.hidden > 0 && spec.layers > 0))
    refuse("row_flow", "at least one feature, hidden unit and layer",
           fmt::format("{}, {} and {}", spec.features, spec.hidden, spec.layers));
  masks_ = masks_of(spec, at::kCPU);
}

std::vector<std::pair<std::string, std::vector<int64_t>>> RowFlow::shapes() const {
  std::vector<std::pair<std::string, std::vector<int64_t>>> all;
  for (size_t l = 0; l < masks_.size(); ++l) {
    all.emplace_back(fmt::format("{}.weight", l), masks_[l].sizes().vec());
    all.emplace_back(fmt::format("{}.bias", l), std::vector<int64_t>{masks_[l].size(0)});
  }
  if (spec_.form == FlowForm::certified) all.emplace_back("scale", std::vector<int64_t>{spec_.features});
  return all;
}

std::vector<at::Tensor> RowFlow::start(const Stream& stream) const {
  std::vector<at::Tensor> all;
  for (const auto& [name, sizes] : shapes()) {
    const bool at_random =
        sizes.size() == 2 && (all.size() + 2 < 2 * masks_.size() || spec_.form == FlowForm::spectral);
    if (name == "scale")
      all.push_back(at::full(sizes, softplus_one(), at::kDouble));
    else if (at_random)
      all.push_back(stream.split(name).normal(sizes) / std::sqrt(static_cast<double>(sizes[1])));
    else
      all.push_back(at::zeros(sizes, at::kDouble));
  }
  return all;
}

/// Returns the weight of a layer without the elements that its mask excludes. In the form `paper` it is also
/// divided by the spectral norm of the unmasked weight where that is above 1; in the form `spectral` by its
/// own spectral norm, if it has elements at all.
at::Tensor RowFlow::masked(const at::Tensor& weight, const at::Tensor& mask) const {
  const at::Tensor own = weight * mask.to(weight.options());
  if (spec_.form == FlowForm::certified) return own;
  if (spec_.form == FlowForm::paper) return own / spectral_norm(weight).clamp_min(1);
  constexpr double kLeast = 1e-12;  // of the last layer of a row of one element, which sees nothing
  return own / spectral_norm(own).clamp_min(kLeast);
}

/// Returns the outputs of the conditioner. `weights` are the masked weights and the biases in turn.
at::Tensor RowFlow::conditioned(const at::Tensor& u, std::span<const at::Tensor> weights) const {
  at::Tensor x = u;
  for (size_t l = 0; l < masks_.size(); ++l) {
    x = at::linear(x, weights[2 * l], weights[2 * l + 1]);
    if (l + 1 < masks_.size()) x = at::tanh(x);
  }
  return x;
}

RowFlow::Image RowFlow::operator()(const at::Tensor& u, std::span<const at::Tensor> parameters) const {
  std::vector<at::Tensor> weights(parameters.begin(), parameters.end());
  const std::vector<at::Tensor> masks = u.is_cpu() ? masks_ : masks_of(spec_, u.device());
  for (size_t l = 0; l < masks.size(); ++l) weights[2 * l] = masked(parameters[2 * l], masks[l]);
  const at::Tensor out = conditioned(u, weights);
  if (spec_.form != FlowForm::certified) {
    const std::vector<at::Tensor> parts = out.chunk(2, -1);
    const at::Tensor s = at::tanh(parts[0]);
    return {u * s.exp() + parts[1], s.sum(-1)};
  }
  const at::Tensor a = at::softplus(parameters.back());
  at::Tensor lipschitz = at::ones({}, u.options());
  for (size_t l = 0; l < masks_.size(); ++l) lipschitz = lipschitz * spectral_norm(weights[2 * l]);
  lipschitz = lipschitz + a.max();
  const at::Tensor log_det = a.log().sum() - static_cast<double>(spec_.features) * lipschitz.log();
  std::vector<int64_t> rows = u.sizes().vec();
  rows.pop_back();
  return {(a * u + out) / lipschitz, log_det.expand(rows)};
}

at::Tensor RowFlow::inverse(const at::Tensor& v, std::span<const at::Tensor> parameters) const {
  at::Tensor u = at::zeros_like(v);
  for (int64_t j = 0; j < spec_.features; ++j) {
    // With u_j = 0, g_j(u) is the shift of element j. Its scale is the difference that u_j = 1 makes.
    const at::Tensor shift = (*this)(u, parameters).values.select(-1, j).clone();
    u.select(-1, j).fill_(1);
    const at::Tensor scale = (*this)(u, parameters).values.select(-1, j) - shift;
    u.select(-1, j).copy_((v.select(-1, j) - shift) / scale);
  }
  return u;
}

}  // namespace slimbayes
