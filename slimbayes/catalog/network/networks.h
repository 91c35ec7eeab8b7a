#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Options of the network whose outputs, called features, are the inputs of a method's kernel, basis
/// functions or linear output layer.
struct NetworkOptions {
  std::string network = "auto";
  std::string activation = "silu";
  int64_t hidden = 64;
  int64_t blocks = 2;
  int64_t heads = 4;
  int64_t feedforward = 0;
  bool positions = true;
  bool final_norm = true;
  std::string lstm_biases = "two";
  bool batch_norm = false;
  double dropout = 0;
};

/// Returns the residual network for vectors of the deep basis kernel paper (N appendix B): Linear from
/// `inputs` to `hidden` features, `blocks` times x + Linear(SiLU(Linear(LayerNorm x))), LayerNorm, SiLU.
/// `activation` replaces SiLU. With a `dropout` above 0, each block ends in a Dropout layer.
SLIMBAYES_EXPORT NetworkSpec tabular_resnet(int64_t inputs, int64_t hidden, int64_t blocks,
                                            const std::string& activation = "silu", double dropout = 0);

/// Returns a network without residuals for vectors: `layers` times Linear and activation, each of width
/// `hidden`. With a `dropout` above 0, a Dropout layer follows each activation; with `batch_norm`, a
/// BatchNorm precedes it. The earlier deep basis kernel paper (E section 4) uses two layers of width 128
/// with tanh. Throws std::invalid_argument if `layers` is below 1.
SLIMBAYES_EXPORT NetworkSpec mlp(int64_t inputs, int64_t hidden, int64_t layers,
                                 const std::string& activation, double dropout = 0, bool batch_norm = false);

/// Returns a fully convolutional network with skip connections for segmentation (Long, Shelhamer and Darrell
/// 2015; sums as in LinkNet, Chaurasia and Culurciello 2017). It keeps the sides of the image. There are
/// `blocks` levels below the image's own, fewer if a side cannot be halved so often. Each halves the sides
/// and doubles the channels up to `hidden`; its result is enlarged and added to the features of the level
/// above. The first level has a quarter of `hidden` channels, because it has the most pixels. With a
/// `dropout` above 0, the other levels have a Dropout layer.
SLIMBAYES_EXPORT NetworkSpec fcn(const Shape& input, int64_t hidden, int64_t blocks, double dropout = 0);

/// One of the networks that a user can choose by the option `network`, with its limits. To add a network, add
/// an entry in networks.cpp.
struct NetworkInfo {
  std::string name;                  // its value of the option `network`
  std::string doc;                   // help text: what it is and when to take it
  std::vector<InputKind> inputs;     // kinds of input that it can read
  std::vector<std::string> options;  // fields of NetworkOptions that it uses, besides `network`
  int64_t least_blocks = 0;          // least value of the option `blocks`
  bool parametrised = false;         // true: the parametrisations mup and ntk can be applied to it
  /// Values of a method's options that belong to the network, such as its width and the schedule that it was
  /// designed for. with_recipe() fills them in where an option is not given.
  nlohmann::json recipe = nlohmann::json::object();
  /// Builds the network for rows of shape `input`. `tokens` is the size of the vocabulary for text, else 0.
  NetworkSpec (*make)(const NetworkOptions& options, const Shape& input, int64_t tokens) = nullptr;
};

/// Returns every network. "auto" stands for the first one that reads the kind of input.
SLIMBAYES_EXPORT std::span<const NetworkInfo> network_catalog();

/// Finds a network by its name. For "auto", returns the first one that reads this kind of input. Throws
/// std::invalid_argument for an unknown name and suggests the nearest known one.
SLIMBAYES_EXPORT const NetworkInfo& find_network(const std::string& network, InputKind kind);

/// Builds the network that the options name, for rows of shape `input`. `tokens` is the size of the
/// vocabulary for text, else 0. With `by_pixel` the rows are images, and the network keeps their height and
/// width: its output has features for each pixel (InputKind::segmentation). Throws std::invalid_argument if
/// the network cannot take such rows; the message lists the networks that can.
SLIMBAYES_EXPORT NetworkSpec network_for(const NetworkOptions& options, const Shape& input,
                                         int64_t tokens = 0, bool by_pixel = false);

/// Returns the linear layer that computes `outputs` numbers from a network's features. It has the
/// parametrisation of the network's own linear layers.
SLIMBAYES_EXPORT Linear output_layer(const std::string& network, const Shape& features, int64_t outputs);

/// Returns the options `given` to a method, with those of the recipe of the network that they name
/// (NetworkInfo::recipe). `known` are the options of the method. It gets no others, and none of the training
/// unless it has the recipe's schedule.
SLIMBAYES_EXPORT nlohmann::json with_recipe(nlohmann::json given, const std::vector<OptionDoc>& known);

/// Returns the names of the networks that can read this kind of input. "auto" stands for the first one.
SLIMBAYES_EXPORT std::vector<std::string> networks_for(InputKind kind);

/// Returns `network` itself, or for "auto" the name of the network that "auto" stands for with this kind of
/// input.
SLIMBAYES_EXPORT std::string network_name(const std::string& network, InputKind kind);

/// Returns whether the network uses this option of NetworkOptions. `network` must not be "auto".
SLIMBAYES_EXPORT bool uses_option(const std::string& network, const std::string& option);

/// Returns the names of the networks that use this option.
SLIMBAYES_EXPORT std::vector<std::string> networks_using(const std::string& option);

/// Returns the networks to which the parametrisations mup and ntk can be applied, as text: "mlp and convnet".
SLIMBAYES_EXPORT std::string parametrised_networks();

/// Throws std::invalid_argument unless `heads`, the number of attention heads, divides `hidden`, the width of
/// a transformer. The message suggests a number that does.
SLIMBAYES_EXPORT void check_heads(int64_t hidden, int64_t heads);

namespace detail {

/// Returns "auto" and the names of all networks.
SLIMBAYES_EXPORT std::vector<std::string> network_choices();
/// Returns the help text of the option `network`.
SLIMBAYES_EXPORT std::string network_help();
/// Returns the networks that use this option as text: "tabular_resnet and mlp".
SLIMBAYES_EXPORT std::string users_text(const std::string& option);

}  // namespace detail

template <class V>
void describe(NetworkOptions& o, V& v) {
  v("network", o.network, detail::network_help(), Choices{detail::network_choices()},
    "N appendix B, E section 4; He et al. 2016");
  v("activation", o.activation, "nonlinearity of " + detail::users_text("activation"),
    Choices{{"silu", "tanh", "relu"}}, "N appendix B, E section 4");
  v("hidden", o.hidden, "width of the network; raise it on large data", Range{1, 65536}, "N appendix B.2");
  v("blocks", o.blocks, "number of residual blocks or layers of " + detail::users_text("blocks"),
    Range{0, 64}, "N appendix B");
  v("heads", o.heads, "attention heads of " + detail::users_text("heads") + "; they must divide hidden",
    Range{1, 1024}, "Vaswani et al. 2017");
  v("feedforward", o.feedforward,
    "width between the two linear layers of a block of " + detail::users_text("feedforward") +
        "; 0: 4 times hidden",
    Range{0, 262144}, "Vaswani et al. 2017");
  v("positions", o.positions,
    "whether " + detail::users_text("positions") +
        " adds to each word of a text a trained vector for its position. Without them the order of the words "
        "does not count",
    "Vaswani et al. 2017");
  v("final_norm", o.final_norm,
    "whether the last layer of " + detail::users_text("final_norm") + " is a norm", "Xiong et al. 2020");
  v("lstm_biases", o.lstm_biases,
    "two: biases for the input and for the hidden state, as in PyTorch; one: a single bias, which starts at "
    "1 for the forget gate, so that the state is kept at first",
    Choices{{"two", "one"}}, "Jozefowicz et al. 2015");
  v("batch_norm", o.batch_norm,
    "whether a batch norm precedes each activation of " + detail::users_text("batch_norm"),
    "FiD-GP section 5.1");
  v("dropout", o.dropout, "share of the features set to zero in training", Range{0, 0.9},
    "Srivastava et al. 2014");
}

}  // namespace slimbayes
