#pragma once

#include <string>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Options of a network that is trained on squared error or cross entropy. dnn is this network alone; other
/// methods (bll, rich-bll, ntk-gp and others) train it first and then add a posterior.
struct TrainedNetworkOptions {
  TrainingOptions training;
  NetworkOptions network;
  std::string class_weights = "none";
  double label_smoothing = 0;
  std::string parametrisation = "standard";
  int64_t reference_width = 50;
};

template <class V>
void describe(TrainedNetworkOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
  v("class_weights", o.class_weights,
    "weight of a row in the loss of classes. balanced: every class counts equally, whatever its share; it "
    "finds more rows of a rare class, but the probabilities are those of equally frequent classes",
    Choices{{"none", "balanced"}}, "King and Zeng 2001");
  v("label_smoothing", o.label_smoothing,
    "share of each label's probability that the training loss spreads equally over all classes, 0.05 or 0.1 "
    "for images; less certain answers. The validation score does not use it",
    Range{0, 0.99}, "Szegedy et al. 2016");
  v("parametrisation", o.parametrisation,
    "how initial weights and learning rates depend on the width. standard: as in PyTorch; mup: features and "
    "gradients keep their size at every width; ntk: the neural tangent parametrisation. mup and ntk are for "
    "the networks " +
        parametrised_networks(),
    Choices{{"standard", "mup", "ntk"}}, "Yang and Hu 2021");
  v("reference_width", o.reference_width, "width at which mup trains with learning_rate itself",
    Range{1, 65536}, "R appendix C");
}

/// Returns the architecture for rows of shape `input`: the chosen network, then a linear output layer of
/// `outputs` numbers. `tokens` is the size of the vocabulary for text, else 0. With `by_pixel` each pixel of
/// an image has `outputs` numbers, and the output layer is a 1 x 1 convolution, which is linear in the
/// features of a pixel. Throws std::invalid_argument if the network cannot take such rows or the
/// parametrisation.
SLIMBAYES_EXPORT NetworkSpec trained_network_spec(const TrainedNetworkOptions& options, const Shape& input,
                                                  int64_t tokens, int64_t outputs, bool by_pixel = false);

}  // namespace slimbayes
