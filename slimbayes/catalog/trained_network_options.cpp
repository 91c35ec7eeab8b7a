#include "slimbayes/catalog/trained_network_options.h"

#include "slimbayes/catalog/network/parametrisation.h"

namespace slimbayes {

NetworkSpec trained_network_spec(const TrainedNetworkOptions& options, const Shape& input, int64_t tokens,
                                 int64_t outputs, bool by_pixel) {
  NetworkSpec spec = network_for(options.network, input, tokens, by_pixel);
  if (by_pixel)
    spec.layers.push_back(Conv2d{.out = outputs, .kernel = 1, .padding = 0});
  else
    spec.layers.push_back(output_layer(options.network.network, output(spec), outputs));
  return parametrised(std::move(spec), options.parametrisation, options.reference_width);
}

}  // namespace slimbayes
