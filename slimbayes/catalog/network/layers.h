#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// This file describes the layers of a network as data. A layer does not store the shape of its input, which
/// is the output shape of the layer before it (network_spec.h). To add a kind of layer, add its struct here,
/// its output shape in network_spec.cpp, its tensors in layer_tensors.cpp and its computation in
/// nn/layers.cpp.

/// Factors and initial values for the weight and the bias of one layer. The defaults are those of PyTorch's
/// layers; parametrised() (parametrisation.h) sets others for a whole network.
struct Scales {
  double weight = 1, bias = 1;            // y = weight * (x W^T) + bias * b
  double weight_rate = 1, bias_rate = 1;  // factors of the learning rate
  double start = 0;  // > 0: W, b start at N(0, start^2); 0: uniform within 1/sqrt(fan-in) of 0
};

/// y = x W^T + b, with the factors in `scales`. Acts on a vector, or on each step of a sequence.
struct Linear {
  static constexpr const char* kind = "linear";
  int64_t out = 1;
  bool bias = true;
  Scales scales = {};
};

/// A nonlinear function applied to each element. "smooth-clip" is x / sqrt(1 + (x / 3)^2), which keeps what is
/// far from 0 within (-3, 3).
struct Activation {
  static constexpr const char* kind = "activation";
  std::string function = "silu";
};

/// Multiplies each feature of a vector by a trained factor of its own, which starts at 1.
struct Scale {
  static constexpr const char* kind = "scale";
  double rate = 1;  // factor of the learning rate
};

/// Embeds each number x of a vector: `out` - 1 trained combinations of cos(2 pi w x + b), with `frequencies`
/// trained frequencies w and phases b, and x itself. Every column has its own. [d] -> [d out]
struct Periodic {
  static constexpr const char* kind = "periodic";
  int64_t frequencies = 16;
  int64_t out = 4;
  double start = 0.1;  // sd of the initial frequencies
  double rate = 1;     // factor of the learning rate
};

/// Normalises the features of a vector, or of each step of a sequence, to mean 0 and variance 1. Then applies
/// a trained scale and shift to each feature.
struct LayerNorm {
  static constexpr const char* kind = "layer_norm";
};

/// Normalises each channel of an image to mean 0 and variance 1 over batch, height and width, or each feature
/// of a vector over the batch. Then applies a trained scale and shift to each. Training uses the mean and
/// variance of the batch and keeps running averages of them; prediction uses the averages.
struct BatchNorm {
  static constexpr const char* kind = "batch_norm";
  double momentum = 0.1;
};

/// In training, sets a random share `rate` of the elements to zero and multiplies the others by 1 / (1 -
/// rate), which keeps the mean. Prediction leaves the elements as they are, except in mc-dropout.
struct Dropout {
  static constexpr const char* kind = "dropout";
  double rate = 0.1;
};

/// A convolution with a square window over an image, with the factors in `scales`.
struct Conv2d {
  static constexpr const char* kind = "conv2d";
  int64_t out = 1;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = 1;
  bool bias = true;
  Scales scales = {};
};

/// Replaces each `size` x `size` square of an image by its maximum or mean. Pixels at the edge that do not
/// fill a square are ignored.
struct Pool2d {
  static constexpr const char* kind = "pool";
  std::string of = "max";
  int64_t size = 2;
};

/// Makes each side of an image `size` times as long, by bilinear interpolation between the centres of the
/// pixels. Outside the outer centres the outer pixels go on.
struct Upsample {
  static constexpr const char* kind = "upsample";
  int64_t size = 2;
};

/// Turns an image into a vector with the mean of each channel. [c, h, w] -> [c]
struct MeanOverImage {
  static constexpr const char* kind = "mean_over_image";
};

/// Turns an image into a vector of all its numbers. [c, h, w] -> [c h w]
struct Flatten {
  static constexpr const char* kind = "flatten";
};

/// Turns tokens into a sequence of vectors. Each step is a trained vector of its token, to which a trained
/// vector of its position is added unless `positions` is false. [t] -> [t, out]
struct Embedding {
  static constexpr const char* kind = "embedding";
  int64_t tokens = 2;  // size of the vocabulary
  int64_t out = 1;
  bool positions = true;
};

/// One LSTM layer. Its output is the hidden state at every step, also at steps that are padding. [t, d] ->
/// [t, out]
struct Lstm {
  static constexpr const char* kind = "lstm";
  int64_t out = 1;
  /// "two": biases for the input and for the hidden state, uniform at the start, as in PyTorch. "one": a
  /// single bias, 1 for the forget gate and 0 for the others at the start (Jozefowicz et al. 2015).
  std::string biases = "two";
};

/// Multi-head self-attention: each step of a sequence attends to every step that is not padding.
struct Attention {
  static constexpr const char* kind = "attention";
  int64_t heads = 1;
};

/// Turns a sequence into a vector: the mean over the steps that are not padding. [t, d] -> [d]
struct MeanOverSteps {
  static constexpr const char* kind = "mean_over_steps";
};

/// Turns a sequence into a vector: the last step that is not padding. [t, d] -> [d]
struct LastStep {
  static constexpr const char* kind = "last_step";
};

struct LayerSpec;

/// y = shortcut(x) + body(x), where body and shortcut are chains of layers. An empty shortcut is the
/// identity.
struct Residual {
  static constexpr const char* kind = "residual";
  std::vector<LayerSpec> body;
  std::vector<LayerSpec> shortcut;
};

/// A layer of any kind. It is a struct, not an alias of the variant, so that Residual can contain layers.
struct LayerSpec : std::variant<Linear, Activation, Scale, Periodic, LayerNorm, BatchNorm, Dropout, Conv2d,
                                Pool2d, Upsample, MeanOverImage, Flatten, Embedding, Lstm, Attention,
                                MeanOverSteps, LastStep, Residual> {
  using variant::variant;
};

/// The bounds of a size of a layer, such as its number of output features.
inline constexpr Range kSizes{1, 1 << 24};

/// The bounds of Scales: kMultipliers for the factors of weight and bias, kRates for the factors of their
/// learning rates. They are wide enough for every width in kSizes.
inline constexpr Range kMultipliers{1e-9, 1e9}, kRates{0, 1e9};

template <class V>
void describe(Scales& o, V& v) {
  v("weight_scale", o.weight, "multiplies the weight in the forward pass", kMultipliers, "Yang and Hu 2020");
  v("bias_scale", o.bias, "multiplies the bias in the forward pass", kMultipliers, "Yang and Hu 2020");
  v("weight_rate", o.weight_rate, "multiplies the learning rate of the weight", kRates, "Yang and Hu 2020");
  v("bias_rate", o.bias_rate, "multiplies the learning rate of the bias", kRates, "Yang and Hu 2020");
  v("start", o.start, "sd of the normal initial values; 0: uniform by the fan-in", Range{0, 1e9},
    "Yang and Hu 2020");
}
template <class V>
void describe(Linear& o, V& v) {
  v("out", o.out, "features that go out", kSizes, "slimbayes");
  v("bias", o.bias, "whether a constant is added", "slimbayes");
  describe(o.scales, v);
}
template <class V>
void describe(Activation& o, V& v) {
  v("function", o.function, "nonlinearity", Choices{{"silu", "tanh", "relu", "gelu", "mish", "smooth-clip"}},
    "slimbayes");
}
template <class V>
void describe(Scale& o, V& v) {
  v("rate", o.rate, "multiplies the learning rate", kRates, "Holzmueller et al. 2024");
}
template <class V>
void describe(Periodic& o, V& v) {
  v("frequencies", o.frequencies, "cosines of each column", Range{1, 1024}, "Holzmueller et al. 2024");
  v("out", o.out, "features of each column, with the column itself", Range{2, 1024},
    "Holzmueller et al. 2024");
  v("start", o.start, "sd of the initial frequencies", Range{0, 1e9}, "Holzmueller et al. 2024");
  v("rate", o.rate, "multiplies the learning rate", kRates, "Holzmueller et al. 2024");
}
template <class V>
void describe(LayerNorm&, V&) {}
template <class V>
void describe(BatchNorm& o, V& v) {
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
  describe(o.scales, v);
}
template <class V>
void describe(Pool2d& o, V& v) {
  v("of", o.of, "what is taken of each square", Choices{{"max", "mean"}}, "slimbayes");
  v("size", o.size, "side of the square", Range{1, 64}, "slimbayes");
}
template <class V>
void describe(Upsample& o, V& v) {
  v("size", o.size, "factor by which each side gets longer", Range{1, 64}, "slimbayes");
}
template <class V>
void describe(MeanOverImage&, V&) {}
template <class V>
void describe(Flatten&, V&) {}
template <class V>
void describe(Embedding& o, V& v) {
  v("tokens", o.tokens, "different tokens", kSizes, "slimbayes");
  v("out", o.out, "features that go out", kSizes, "slimbayes");
  v("positions", o.positions, "whether a vector for the position is added", "slimbayes");
}
template <class V>
void describe(Lstm& o, V& v) {
  v("out", o.out, "size of the hidden state", kSizes, "slimbayes");
  v("biases", o.biases, "biases of a gate", Choices{{"two", "one"}}, "Jozefowicz et al. 2015");
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
void describe(Residual&, V&) {}  // no options: body and shortcut are stored as lists of layers

}  // namespace slimbayes
