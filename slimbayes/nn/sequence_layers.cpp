// The computation of the layers for sequences. Every row of a batch is a sequence of vectors, or of tokens.
#include <ATen/ATen.h>

#include <array>
#include <optional>

#include "slimbayes/nn/layer_parts.h"

namespace slimbayes {

using Layer = Network::Layer;
using Pass = Network::Pass;

namespace {

/// Returns the mask of a pass for activations x [b, ...] or, if they are stacked, [S b, ...].
at::Tensor mask_for(const at::Tensor& x, const Pass& pass) {
  const int64_t rows = pass.mask.size(0);
  return x.size(0) == rows ? pass.mask : pass.mask.repeat({x.size(0) / rows, 1});
}

}  // namespace

Layer made_layer(const Embedding& layer, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, Embedding::kind), w = at.map("weight"),
          p = at.tensor("positions", layer.positions)](const at::Tensor& x, const Pass& pass) {
    const LinearMap& map = pass.binding.maps[w];
    const at::Tensor positions = tensor_of(pass, p);
    at::Tensor y = rows_of_map(map, x);
    if (positions.defined()) y = y + positions.narrow(0, 0, x.size(1));
    if (pass.taps != nullptr) record(pass, tap, {dense(map), positions}, x, y);
    return y;
  };
}

namespace {

/// Computes an LSTM with S draws of its weights, from the gates' share of the input [S b, t, 4 h] and the
/// recurrent weights [S, 4 h, h]. Returns the hidden state at every step, [S b, t, h].
at::Tensor stacked_lstm(const at::Tensor& of_input, const at::Tensor& recurrent) {
  const int64_t s = recurrent.size(0), h = recurrent.size(2), t = of_input.size(1), b = of_input.size(0) / s;
  const at::Tensor gates = of_input.view({s, b, t, 4 * h}), turned = recurrent.transpose(1, 2);
  at::Tensor hidden = at::zeros({s, b, h}, of_input.options()), cell = hidden;
  std::vector<at::Tensor> steps;
  for (int64_t i = 0; i < t; ++i) {
    const std::vector<at::Tensor> gate = at::baddbmm(gates.select(2, i), hidden, turned).chunk(4, -1);
    cell = gate[1].sigmoid() * cell + gate[0].sigmoid() * gate[2].tanh();
    hidden = gate[3].sigmoid() * cell.tanh();
    steps.push_back(hidden);
  }
  return at::stack(steps, 2).view({s * b, t, h});
}

}  // namespace

Layer made_layer(const Lstm& layer, const Shape&, const Places& at) {
  return [tap = tap_of(at.layer, Lstm::kind), h = layer.out, from_input = at.map("weight_ih"),
          from_hidden = at.map("weight_hh"), input_bias = at.tensor("bias_ih"),
          hidden_bias = at.tensor("bias_hh", layer.biases == "two")](const at::Tensor& x, const Pass& pass) {
    const Binding& binding = pass.binding;
    const at::Tensor recurrent = dense(binding.maps[from_hidden]);
    at::Tensor bias = binding.tensors[input_bias], second = tensor_of(pass, hidden_bias);
    if (recurrent.dim() == 3) {
      if (second.defined()) bias = bias + second;
      return stacked_lstm(apply(binding.maps[from_input], x, bias, pass.rows), recurrent);
    }
    const std::vector<at::Tensor> trained = {dense(binding.maps[from_input]), recurrent, bias, second};
    const at::Tensor start = at::zeros({1, x.size(0), h}, x.options());
    if (!second.defined()) second = at::zeros_like(bias);
    // cuDNN has a backward pass only after a forward pass of training. With one layer and no dropout the
    // numbers are the same.
    const bool training = pass.context.training || !x.is_cpu();
    at::Tensor y = std::get<0>(at::lstm(x, {start, start}, {trained[0], recurrent, bias, second},
                                        /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0, training,
                                        /*bidirectional=*/false,
                                        /*batch_first=*/true));
    record(pass, tap, trained, x, y);
    return y;
  };
}

namespace {

/// The indices in a Binding of an attention layer's tensors and maps.
struct AttentionPlaces {
  size_t in_weight, in_bias, out_bias;  // tensors
  std::array<size_t, 3> in;             // maps: queries, keys, values
  size_t out;                           // map
};

/// Returns the queries, keys and values [b, t, 3 h], or [S b, t, 3 h] for stacked draws. Uses one matrix
/// product if one tensor holds all three matrices, else three products.
at::Tensor attended(const at::Tensor& x, const Binding& binding, const AttentionPlaces& places,
                    int64_t rows) {
  const at::Tensor &joint = binding.tensors[places.in_weight], &bias = binding.tensors[places.in_bias];
  if (joint.defined()) return at::linear(x, joint, bias);
  std::vector<at::Tensor> parts;
  for (const size_t place : places.in) parts.push_back(apply(binding.maps[place], x, {}, rows));
  return with_bias(at::cat(parts, -1), bias);
}

/// Returns the matrices of the queries, keys and values, one below the other. [3 h, h]
at::Tensor joint_weight(const Binding& binding, const AttentionPlaces& places) {
  const at::Tensor& joint = binding.tensors[places.in_weight];
  if (joint.defined()) return joint;
  std::vector<at::Tensor> parts;
  for (const size_t place : places.in) parts.push_back(dense(binding.maps[place]));
  return at::cat(parts);
}

}  // namespace

Layer made_layer(const Attention& layer, const Shape& in, const Places& at) {
  const AttentionPlaces places{at.tensor("in_weight"),
                               at.tensor("in_bias"),
                               at.tensor("out_bias"),
                               {at.map("q"), at.map("k"), at.map("v")},
                               at.map("out_weight")};
  const Tap in_tap = tap_of(at.layer + ".in", Linear::kind),
            out_tap = tap_of(at.layer + ".out", Linear::kind);
  return [=, h = in.width(), heads = layer.heads](const at::Tensor& x, const Pass& pass) {
    const auto& [tensors, maps] = pass.binding;
    const at::Tensor projected = attended(x, pass.binding, places, pass.rows);
    const int64_t b = projected.size(0), t = x.size(1);
    if (pass.taps != nullptr)
      record(pass, in_tap, {joint_weight(pass.binding, places), tensors[places.in_bias]}, x, projected);
    const at::Tensor all = projected.view({b, t, 3, heads, h / heads}).permute({2, 0, 3, 1, 4});
    std::optional<at::Tensor> mask;
    if (pass.mask.defined()) mask = mask_for(projected, pass).view({b, 1, 1, t});
    const at::Tensor y =
        at::scaled_dot_product_attention(all[0], all[1], all[2], mask);  // [b, heads, t, h / heads]
    const at::Tensor joined = y.transpose(1, 2).reshape({b, t, h});
    at::Tensor out = apply(maps[places.out], joined, tensors[places.out_bias], pass.rows);
    if (pass.taps != nullptr)
      record(pass, out_tap, {dense(maps[places.out]), tensors[places.out_bias]}, joined, out);
    return out;
  };
}

Layer made_layer(const MeanOverSteps&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass& pass) {
    if (!pass.mask.defined()) return x.mean(1);
    const at::Tensor there = mask_for(x, pass).to(x.scalar_type()).unsqueeze(2);  // [b, t, 1]
    return (x * there).sum(1) / there.sum(1);
  };
}

Layer made_layer(const LastStep&, const Shape&, const Places&) {
  return [](const at::Tensor& x, const Pass& pass) {
    if (!pass.mask.defined()) return x.select(1, -1);
    const at::Tensor last = (mask_for(x, pass).sum(1) - 1).view({-1, 1, 1}).expand({-1, 1, x.size(2)});
    return x.gather(1, last).squeeze(1);
  };
}

}  // namespace slimbayes
