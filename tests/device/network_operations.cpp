#include <ATen/ATen.h>

#include "tests/device/operations.h"

namespace slimbayes::simulated {

namespace {

using Tensors = std::vector<at::Tensor>;

at::Tensor integers(const at::Tensor& x, int64_t n, int64_t below) {
  return at::arange(n, at::dtype(at::kLong).device(x.device())).remainder(below);
}

at::Tensor zeros_beside(const at::Tensor& x, at::IntArrayRef shape) {
  return at::zeros(shape, x.options().requires_grad(false));
}
at::Tensor ones_beside(const at::Tensor& x, at::IntArrayRef shape) {
  return at::ones(shape, x.options().requires_grad(false));
}

std::vector<Operations> layers() {
  return {
      {"linear",
       {{7, 5}, {3, 5}, {3}},
       [](const Tensors& x) { return Tensors{at::linear(x[0], x[1], x[2])}; }},
      {"conv2d",
       {{2, 3, 8, 8}, {4, 3, 3, 3}, {4}},
       [](const Tensors& x) { return Tensors{at::conv2d(x[0], x[1], x[2], 2, 1)}; }},
      {"conv2d of groups",
       {{2, 4, 6, 6}, {4, 1, 3, 3}},
       [](const Tensors& x) { return Tensors{at::conv2d(x[0], x[1], {}, 1, 1, 1, 4)}; }},
      {"conv1d",
       {{2, 3, 9}, {4, 3, 3}, {4}},
       [](const Tensors& x) { return Tensors{at::conv1d(x[0], x[1], x[2])}; }},
      {"pooling",
       {{2, 3, 8, 8}},
       [](const Tensors& x) {
         return Tensors{at::max_pool2d(x[0], 2), at::avg_pool2d(x[0], 2),
                        at::adaptive_avg_pool2d(x[0], {1, 1})};
       }},
      {"batch norm in training",
       {{6, 3, 4, 4}, {3}, {3}},
       [](const Tensors& x) {
         const at::Tensor mean = zeros_beside(x[0], {3}), var = ones_beside(x[0], {3});
         const at::Tensor y = at::batch_norm(x[0], x[1], x[2], mean, var, true, 0.1, 1e-5, false);
         return Tensors{y, mean, var};
       }},
      {"batch norm in use",
       {{6, 3, 4, 4}, {3}, {3}},
       [](const Tensors& x) {
         return Tensors{at::batch_norm(x[0], x[1], x[2], zeros_beside(x[0], {3}), ones_beside(x[0], {3}),
                                       false, 0.1, 1e-5, false)};
       }},
      {"layer norm",
       {{6, 5}, {5}, {5}},
       [](const Tensors& x) { return Tensors{at::layer_norm(x[0], {5}, x[1], x[2])}; }},
      {"residual block",
       {{4, 6}, {6, 6}},
       [](const Tensors& x) { return Tensors{x[0] + at::silu(at::linear(x[0], x[1]))}; }},
      {"silu and mish",
       {{9, 5}},
       [](const Tensors& x) {
         return Tensors{at::silu(x[0]), at::mish(x[0])};
       }},
      {"relu and gelu",
       {{9, 5}},
       [](const Tensors& x) {
         return Tensors{at::relu(x[0]), at::gelu(x[0]), at::gelu(x[0], "tanh")};
       }},
      {"tanh and sigmoid",
       {{9, 5}},
       [](const Tensors& x) {
         return Tensors{at::tanh(x[0]), at::sigmoid(x[0]), at::softplus(x[0]), at::log_sigmoid(x[0])};
       }},
      {"embedding",
       {{5, 3}},
       [](const Tensors& x) {
         return Tensors{at::embedding(x[0], integers(x[0], 12, 5).view({3, 4}))};
       }},
      {"upsampling",
       {{1, 2, 4, 4}},
       [](const Tensors& x) {
         return Tensors{at::upsample_bilinear2d(x[0], {8, 8}, false), at::upsample_nearest2d(x[0], {8, 8})};
       }},
      {"im2col",
       {{2, 3, 6, 6}},
       [](const Tensors& x) {
         return Tensors{at::im2col(x[0], {3, 3}, {1, 1}, {1, 1}, {1, 1})};
       }},
      {"padding",
       {{2, 3}},
       [](const Tensors& x) {
         return Tensors{at::constant_pad_nd(x[0], {1, 2, 0, 1}, 0.5)};
       }},
  };
}

std::vector<Operations> sequences() {
  return {
      {"lstm",
       {{3, 5, 4}, {24, 4}, {24, 6}, {24}, {24}},
       [](const Tensors& x) {
         const at::Tensor start = zeros_beside(x[0], {1, 3, 6});
         const auto [y, h, c] =
             at::lstm(x[0], {start, start}, {x[1], x[2], x[3], x[4]}, true, 1, 0.0, false, false, true);
         return Tensors{y, h, c};
       },
       5e-7},
      {"attention",
       {{2, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}},
       [](const Tensors& x) { return Tensors{at::scaled_dot_product_attention(x[0], x[1], x[2])}; },
       5e-7},
      {"attention with a mask",
       {{2, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}},
       [](const Tensors& x) {
         const at::Tensor mask = (integers(x[0], 5, 3) < 2).view({1, 1, 1, 5}).expand({2, 2, 5, 5});
         return Tensors{at::scaled_dot_product_attention(x[0], x[1], x[2], mask)};
       },
       5e-7},
  };
}

/// Returns the parameters after a step of AdamW, with its moments. `count` is the number of the step.
Tensors after_adamw(const at::Tensor& value, const at::Tensor& grad, const at::Tensor& count) {
  const at::Tensor moved = value.detach().clone(), first = at::zeros_like(moved),
                   second = at::zeros_like(moved);
  at::_fused_adamw_({moved}, {grad.detach()}, {first}, {second}, {}, {count}, 0.1, 0.9, 0.999, 0.01, 1e-8,
                    false, false);
  return {moved, first, second};
}

std::vector<Operations> losses() {
  return {
      {"softmax",
       {{6, 4}},
       [](const Tensors& x) {
         return Tensors{at::softmax(x[0], 1), at::log_softmax(x[0], 1)};
       }},
      {"cross entropy",
       {{6, 4}},
       [](const Tensors& x) {
         const at::Tensor y = integers(x[0], 6, 4);
         return Tensors{at::cross_entropy_loss(x[0], y), at::nll_loss(at::log_softmax(x[0], 1), y)};
       }},
      {"squared and absolute error",
       {{6, 4}, {6, 4}},
       [](const Tensors& x) {
         return Tensors{at::mse_loss(x[0], x[1]), at::smooth_l1_loss(x[0], x[1]), at::huber_loss(x[0], x[1])};
       }},
      {"binary cross entropy",
       {{6}},
       [](const Tensors& x) {
         return Tensors{at::binary_cross_entropy_with_logits(x[0], at::full_like(x[0], 0.25))};
       }},
      {"logsumexp",
       {{6, 4}, {6, 4}},
       [](const Tensors& x) {
         return Tensors{at::logsumexp(x[0], 1), at::logaddexp(x[0], x[1])};
       }},
      {"adamw",
       {{40}, {40}},
       [](const Tensors& x) { return after_adamw(x[0], x[1], ones_beside(x[0], {}).to(at::kFloat)); }},
      {"one hot and classes",
       {{6, 4}},
       [](const Tensors& x) {
         return Tensors{x[0] * at::one_hot(integers(x[0], 6, 4), 4), x[0].argmax(1)};
       }},
  };
}

}  // namespace

const std::vector<Operations>& networks() {
  static const std::vector<Operations> all = [] {
    std::vector<Operations> joined = layers();
    for (auto make : {sequences, losses})
      for (Operations& each : make()) joined.push_back(std::move(each));
    return joined;
  }();
  return all;
}

}  // namespace slimbayes::simulated
