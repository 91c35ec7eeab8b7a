#include "slimbayes/ntk/gradient_sketch.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/ntk/layer_gradients.h"

namespace slimbayes {

/// The random numbers of one layer.
struct LayerSigns {
  at::Tensor left;     // product, tokens: [out, q] of +-1
  at::Tensor right;    // product: [in + 1, q] of +-1, the last row for the bias; tokens: [vocabulary, q] int8
  at::Tensor feature;  // vector: [numbers] int64, the feature to which each number is added
  at::Tensor sign;     // vector: [numbers] of +-1
};

namespace {

constexpr int64_t kNumbers = 8 << 20;  // of the [rows, positions, q] tensors that are held at once

at::Tensor signs(const Stream& stream, at::IntArrayRef shape, const at::TensorOptions& options) {
  return (2 * (stream.uniform(shape, at::kFloat) < 0.5).to(at::kFloat) - 1).to(options);
}

LayerSigns drawn(const LayerGradients& layer, int64_t q, const Stream& stream) {
  const at::TensorOptions like = layer.delta.options();
  LayerSigns out;
  if (layer.form == GradientForm::vector) {
    const int64_t numbers = layer.delta.size(1);
    const at::Tensor place = stream.split("feature").uniform({numbers}) * static_cast<double>(q);
    out.feature = on_device(place.floor().to(at::kLong).clamp_max(q - 1), layer.delta.device());
    out.sign = signs(stream.split("sign"), {numbers}, like);
    return out;
  }
  out.left = signs(stream.split("left"), {layer.delta.size(2), q}, like);
  out.right = layer.form == GradientForm::product
                  ? signs(stream.split("right"), {layer.input.size(2) + 1, q}, like)
                  : signs(stream.split("right"), {layer.vocabulary, q}, like.dtype(at::kChar));
  return out;
}

/// The features of some rows of a layer, without the factor 1 / sqrt(q) of the outer products. [b, q]
at::Tensor of_rows(const LayerGradients& layer, const LayerSigns& s, int64_t from, int64_t to) {
  const at::Tensor left = layer.delta.slice(0, from, to).matmul(s.left);  // [b, positions, q]
  const at::Tensor input = layer.input.slice(0, from, to);
  if (layer.form == GradientForm::tokens)
    return (left * s.right.index_select(0, input.reshape({-1})).view_as(left)).sum(1);
  at::Tensor right = std::sqrt(layer.weight2) * input.matmul(s.right.slice(0, 0, -1));
  if (layer.bias2 > 0) right = right + std::sqrt(layer.bias2) * s.right[-1];
  return (left * right).sum(1);
}

at::Tensor features_of(const LayerGradients& layer, const LayerSigns& s, int64_t q) {
  const int64_t n = layer.delta.size(0);
  if (layer.form == GradientForm::vector)
    return at::zeros({n, q}, layer.delta.options()).index_add_(1, s.feature, layer.delta * s.sign);
  const int64_t step = std::max<int64_t>(1, kNumbers / std::max<int64_t>(1, layer.delta.size(1) * q));
  std::vector<at::Tensor> parts;
  for (int64_t from = 0; from < n; from += step)
    parts.push_back(of_rows(layer, s, from, std::min(n, from + step)));
  return at::cat(parts) / std::sqrt(static_cast<double>(q));
}

}  // namespace

struct GradientSketch::Signs {
  explicit Signs(const Stream& of) : stream(of) {}

  const std::vector<LayerSigns>& of(const GradientBlock& block, int64_t q) {
    std::call_once(drawn_once, [&] {
      for (size_t i = 0; i < block.layers.size(); ++i)
        layers.push_back(drawn(block.layers[i], q, stream.split(static_cast<uint64_t>(i))));
    });
    internal_check(layers.size() == block.layers.size(), "ntk", "two passes with different layers");
    return layers;
  }

  Stream stream;
  std::once_flag drawn_once;
  std::vector<LayerSigns> layers;
};

GradientSketch::GradientSketch(GradientModel model, int64_t size, const Stream& stream)
    : model_(std::move(model)), size_(size), signs_(std::make_shared<Signs>(stream)) {
  if (!(size > 0)) refuse("sketch", "at least one feature", std::to_string(size));
}

at::Tensor GradientSketch::operator()(const GradientRows& rows) const {
  check_rows(rows, "sketch");
  const at::Tensor out = at::zeros({rows.size, size_}, model_.doubles().dtype(model_.type()));
  if (rows.size == 0 || model_.parameters.empty()) return out;
  const PlannedRows planned{model_, rows, gradient_plan(model_, rows, /*factored=*/true)};
  for (int64_t from = 0; from < rows.size; from += kTileRows) {
    for (const GradientBlock& block : gradient_blocks(planned, from, std::min(rows.size, from + kTileRows))) {
      const at::NoGradGuard no_grad;
      const std::vector<LayerSigns>& signs = signs_->of(block, size_);
      const at::Tensor part = out.slice(0, block.from, block.to);
      for (size_t i = 0; i < block.layers.size(); ++i)
        part.add_(features_of(block.layers[i], signs[i], size_));
    }
  }
  return out;
}

}  // namespace slimbayes
