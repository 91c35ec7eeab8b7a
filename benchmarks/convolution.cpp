#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "slimbayes/kernels/kernels.h"

// Times a 3 x 3 convolution of 128 images by libtorch (oneDNN), forward and both gradients, and the same by
// the products of kernels/ on copied windows (im2col), image by image. It decides whether the engine should
// compute convolutions.

namespace slimbayes {
namespace {

constexpr int64_t kImages = 128, kSide = 3;

/// Channels in and out, and the sides of the image; those of the network `convnet` with 32 channels.
void layers(benchmark::internal::Benchmark* b) {
  b->ArgNames({"in", "out", "side"})
      ->Args({16, 16, 28})
      ->Args({16, 32, 14})
      ->Args({32, 32, 14})
      ->Args({64, 64, 16})
      ->Unit(benchmark::kMicrosecond);
}

void BM_conv_libtorch(benchmark::State& state, bool gradients) {
  const int64_t in = state.range(0), out = state.range(1), side = state.range(2);
  at::Tensor x = at::randn({kImages, in, side, side}), w = at::randn({out, in, kSide, kSide});
  x.set_requires_grad(gradients);
  w.set_requires_grad(gradients);
  const at::Tensor g = at::randn({kImages, out, side, side});
  for (auto _ : state) {
    const at::Tensor y = at::conv2d(x, w, {}, 1, 1);
    if (gradients) {
      x.mutable_grad() = w.mutable_grad() = at::Tensor();
      y.backward(g);
    }
    benchmark::DoNotOptimize(y.const_data_ptr());
  }
}
BENCHMARK_CAPTURE(BM_conv_libtorch, forward, false)->Apply(layers);
BENCHMARK_CAPTURE(BM_conv_libtorch, step, true)->Apply(layers);

/// Images with the channels last. `windows` [side^2, 9 in]: row by row what the window around a pixel sees.
void copy_windows(const float* image, int64_t channels, int64_t side, float* windows) {
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x)
      for (int64_t dy = -1; dy <= 1; ++dy)
        for (int64_t dx = -1; dx <= 1; ++dx, windows += channels) {
          const bool inside = y + dy >= 0 && y + dy < side && x + dx >= 0 && x + dx < side;
          if (inside)
            std::copy_n(image + ((y + dy) * side + x + dx) * channels, channels, windows);
          else
            std::fill_n(windows, channels, 0.0F);
        }
}

/// Adds windows back to the pixels that they came from.
void add_windows(const float* windows, int64_t channels, int64_t side, float* image) {
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x)
      for (int64_t dy = -1; dy <= 1; ++dy)
        for (int64_t dx = -1; dx <= 1; ++dx, windows += channels) {
          if (y + dy < 0 || y + dy >= side || x + dx < 0 || x + dx >= side) continue;
          float* to = image + ((y + dy) * side + x + dx) * channels;
          for (int64_t c = 0; c < channels; ++c) to[c] += windows[c];
        }
}

void BM_conv_kernels(benchmark::State& state, bool gradients) {
  const kernels::Kernels& k = kernels::kernels();
  const int64_t in = state.range(0), out = state.range(1), side = state.range(2), pixels = side * side,
                wide = kSide * kSide * in;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  std::vector<float> x(size(kImages * pixels * in), 1), y(size(kImages * pixels * out), 1),
      w(size(wide * out), 1), turned = w, dw = w, windows(size(pixels * wide)), dx = x;
  for (auto _ : state)
    for (int64_t i = 0; i < kImages; ++i) {
      float *to = y.data() + i * pixels * out, *grad = dx.data() + i * pixels * in;
      copy_windows(x.data() + i * pixels * in, in, side, windows.data());
      k.product({.m = pixels,
                 .k = wide,
                 .n = out,
                 .a = windows.data(),
                 .lda = wide,
                 .b = w.data(),
                 .ldb = out,
                 .c = to,
                 .ldc = out});
      if (!gradients) continue;
      k.transposed_product({.m = pixels,
                            .k = out,
                            .n = wide,
                            .a = to,
                            .lda = out,
                            .b = windows.data(),
                            .ldb = wide,
                            .c = dw.data(),
                            .ldc = wide});
      k.product({.m = pixels,
                 .k = out,
                 .n = wide,
                 .a = to,
                 .lda = out,
                 .b = turned.data(),
                 .ldb = wide,
                 .c = windows.data(),
                 .ldc = wide});
      std::fill_n(grad, pixels * in, 0.0F);
      add_windows(windows.data(), in, side, grad);
      benchmark::DoNotOptimize(grad);
    }
}
BENCHMARK_CAPTURE(BM_conv_kernels, forward, false)->Apply(layers);
BENCHMARK_CAPTURE(BM_conv_kernels, step, true)->Apply(layers);

}  // namespace
}  // namespace slimbayes
