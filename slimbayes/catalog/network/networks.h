#pragma once

#include <string>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of the network that computes the features on which a method's kernel, basis or linear head acts.
struct NetworkOptions {
  std::string network = "auto";
  std::string activation = "silu";
  int64_t hidden = 64;
  int64_t blocks = 2;
  int64_t heads = 4;
  double dropout = 0;
};

/// Returns the residual network of N appendix B for vectors: Linear from `inputs` to `hidden` features,
/// `blocks` times x + Linear(SiLU(Linear(LayerNorm x))), LayerNorm, SiLU. `activation` replaces SiLU. With a
/// `dropout` above 0, each block ends in a Dropout layer.
NetworkSpec tabular_resnet(int64_t inputs, int64_t hidden, int64_t blocks,
                           const std::string& activation = "silu", double dropout = 0);

/// Returns a plain network for vectors: `layers` times Linear and activation, each of width `hidden`. The
/// paper E (docs/references.md), section 4, uses two layers of width 128 with tanh. Throws
/// std::invalid_argument if `layers` is below 1. With a `dropout` above 0, a Dropout layer follows each
/// activation.
NetworkSpec mlp(int64_t inputs, int64_t hidden, int64_t layers, const std::string& activation,
                double dropout = 0);

/// Returns the network that the options name, for rows of shape `input`. "auto" is tabular_resnet for
/// vectors, lstm for sequences, convnet for images and transformer for tokens. `tokens` is the size of the
/// vocabulary. Throws std::invalid_argument if the network cannot take such rows, and names the networks that
/// can.
NetworkSpec network_for(const NetworkOptions& options, const Shape& input, int64_t tokens = 0);

/// Returns the names of the networks that take this kind of input. The first one is the choice of "auto".
std::vector<std::string> networks_for(InputKind kind);

/// The name of a network, that of "auto" by the kind of input.
std::string network_name(const std::string& network, InputKind kind);

/// Whether this network, none of "auto", depends on this option of NetworkOptions.
bool uses_option(const std::string& network, const std::string& option);

/// The names of the networks that depend on it.
std::vector<std::string> networks_using(const std::string& option);

/// Throws std::invalid_argument unless the heads of a transformer divide its width.
void check_heads(int64_t hidden, int64_t heads);

template <class V>
void describe(NetworkOptions& o, V& v) {
  v("network", o.network,
    "auto: by the inputs. tabular_resnet: residual blocks with layer norms, for tables; mlp: plain layers, "
    "rarely better; "
    "lstm: windows; convnet: small grey images; resnet18: colour images; transformer: text, or windows",
    Choices{{"auto", "tabular_resnet", "mlp", "lstm", "convnet", "resnet18", "transformer"}},
    "N appendix B, E section 4; He et al. 2016");
  v("activation", o.activation, "nonlinearity of tabular_resnet and mlp", Choices{{"silu", "tanh", "relu"}},
    "N appendix B, E section 4");
  v("hidden", o.hidden, "width of the network; raise it on large data", Range{1, 65536}, "N appendix B.2");
  v("blocks", o.blocks, "residual blocks, or layers of an mlp, an lstm or a transformer", Range{0, 64},
    "N appendix B");
  v("heads", o.heads, "attention heads of a transformer; a divisor of hidden", Range{1, 1024},
    "Vaswani et al. 2017");
  v("dropout", o.dropout, "share of the features set to zero in training", Range{0, 0.9},
    "Srivastava et al. 2014");
}

}  // namespace slimbayes
