#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// The layers of a network as data. What comes in is known from the layer before (network_spec.h), so a layer
/// holds only what it adds. A new layer is a struct here, its shape in network_spec.cpp and its computation
/// in nn/layers.cpp.

/// y = x W^T + b over the last axis: of a vector, or of each step of a sequence.
struct Linear {
  static constexpr const char* kind = "linear";
  int64_t out = 1;
  bool bias = true;
};

/// Element by element.
struct Activation {
  static constexpr const char* kind = "activation";
  std::string function = "silu";
};

/// Over the last axis, with a scale and a shift for each feature.
struct LayerNorm {
  static constexpr const char* kind = "layer_norm";
};

/// Normalises over batch, height and width, with a trained scale and shift for each channel. Training uses
/// the batch's mean and variance and keeps running averages of them, which prediction uses.
struct BatchNorm2d {
  static constexpr const char* kind = "batch_norm";
  double momentum = 0.1;
};

/// Sets a share of the elements to zero in training, and scales the others up.
struct Dropout {
  static constexpr const char* kind = "dropout";
  double rate = 0.1;
};

/// A square convolution over an image.
struct Conv2d {
  static constexpr const char* kind = "conv2d";
  int64_t out = 1;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 1;
  bool bias = true;
};

/// The largest or the mean of each square of an image; a rest at the edge is left out.
struct Pool2d {
  static constexpr const char* kind = "pool";
  std::string of = "max";
  int64_t size = 2;
};

/// The mean of each channel of an image: a vector.
struct MeanOverImage {
  static constexpr const char* kind = "mean_over_image";
};

/// An image as a vector.
struct Flatten {
  static constexpr const char* kind = "flatten";
};

/// A vector for each token plus one for its place.
struct Embedding {
  static constexpr const char* kind = "embedding";
  int64_t tokens = 2;  // how many different ones
  int64_t out = 1;
};

/// The hidden states of a sequence.
struct Lstm {
  static constexpr const char* kind = "lstm";
  int64_t out = 1;
};

/// Each step of a sequence looks at every step that is there.
struct Attention {
  static constexpr const char* kind = "attention";
  int64_t heads = 1;
};

/// The mean over the steps of a sequence that are there: a vector.
struct MeanOverSteps {
  static constexpr const char* kind = "mean_over_steps";
};

/// The last step of a sequence that is there: a vector.
struct LastStep {
  static constexpr const char* kind = "last_step";
};

struct LayerSpec;

/// shortcut(x) + body(x); an empty shortcut is x itself.
struct Residual {
  static constexpr const char* kind = "residual";
  std::vector<LayerSpec> body;
  std::vector<LayerSpec> shortcut;
};

struct LayerSpec
    : std::variant<Linear, Activation, LayerNorm, BatchNorm2d, Dropout, Conv2d, Pool2d, MeanOverImage,
                   Flatten, Embedding, Lstm, Attention, MeanOverSteps, LastStep, Residual> {
  using variant::variant;
};

inline constexpr Range kSizes{1, 1 << 24};

template <class V>
void describe(Linear& o, V& v) {
  v("out", o.out, "features that go out", kSizes, "slimbayes");
  v("bias", o.bias, "whether a constant is added", "slimbayes");
}
template <class V>
void describe(Activation& o, V& v) {
  v("function", o.function, "nonlinearity", Choices{{"silu", "tanh", "relu", "gelu"}}, "slimbayes");
}
template <class V>
void describe(LayerNorm&, V&) {}
template <class V>
void describe(BatchNorm2d& o, V& v) {
  v("momentum", o.momentum, "weight of the newest batch in the running averages", Range{0, 1}, "slimbayes");
}
template <class V>
void describe(Dropout& o, V& v) {
  v("rate", o.rate, "share of the elements set to zero in training", Range{0, 0.99}, "slimbayes");
}
template <class V>
void describe(Conv2d& o, V& v) {
  v("out", o.out, "channels that go out", kSizes, "slimbayes");
  v("kernel", o.kernel, "side of the window", Range{1, 64}, "slimbayes");
  v("stride", o.stride, "pixels from window to window", Range{1, 64}, "slimbayes");
  v("padding", o.padding, "zeros around the image", Range{0, 64}, "slimbayes");
  v("bias", o.bias, "whether a constant is added", "slimbayes");
}
template <class V>
void describe(Pool2d& o, V& v) {
  v("of", o.of, "what is taken of each square", Choices{{"max", "mean"}}, "slimbayes");
  v("size", o.size, "side of the square", Range{1, 64}, "slimbayes");
}
template <class V>
void describe(MeanOverImage&, V&) {}
template <class V>
void describe(Flatten&, V&) {}
template <class V>
void describe(Embedding& o, V& v) {
  v("tokens", o.tokens, "different tokens", kSizes, "slimbayes");
  v("out", o.out, "features that go out", kSizes, "slimbayes");
}
template <class V>
void describe(Lstm& o, V& v) {
  v("out", o.out, "size of the hidden state", kSizes, "slimbayes");
}
template <class V>
void describe(Attention& o, V& v) {
  v("heads", o.heads, "parts of the features that attend by themselves", Range{1, 1024}, "slimbayes");
}
template <class V>
void describe(MeanOverSteps&, V&) {}
template <class V>
void describe(LastStep&, V&) {}
template <class V>
void describe(Residual&, V&) {}  // its layers are no options

}  // namespace slimbayes
