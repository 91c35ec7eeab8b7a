// The network for segmentation: residuals inside residuals, one for each level.
#include <algorithm>
#include <utility>

#include "slimbayes/catalog/network/networks.h"

namespace slimbayes {

namespace {

/// Appends a 3 x 3 convolution with batch norm and ReLU. The batch norm adds the bias.
void add_block(std::vector<LayerSpec>& layers, int64_t out) {
  layers.push_back(Conv2d{.out = out, .bias = false});
  layers.push_back(BatchNorm{});
  layers.push_back(Activation{"relu"});
}

/// Appends the levels below an image of `width` channels and these sides: x + up(body(down x)), where the
/// body contains the next level. Appends nothing without levels left, and where a side cannot be halved.
void add_levels(std::vector<LayerSpec>& layers, int64_t left, int64_t width, const Shape& image, int64_t most,
                double dropout) {
  const int64_t height = image.sizes[1], wide = image.sizes[2], out = std::min(2 * width, most);
  if (left == 0 || height % 2 != 0 || wide % 2 != 0) return;
  Residual skip{{Pool2d{"max", 2}}, {}};
  add_block(skip.body, out);
  add_block(skip.body, out);
  if (dropout > 0) skip.body.push_back(Dropout{dropout});
  add_levels(skip.body, left - 1, out, {{out, height / 2, wide / 2}}, most, dropout);
  add_block(skip.body, width);
  skip.body.push_back(Upsample{2});
  layers.push_back(std::move(skip));
}

}  // namespace

NetworkSpec fcn(const Shape& input, int64_t hidden, int64_t blocks, double dropout) {
  NetworkSpec spec{input};
  const int64_t width = std::max<int64_t>(1, hidden / 4);
  add_block(spec.layers, width);
  add_levels(spec.layers, blocks, width, input, hidden, dropout);
  add_block(spec.layers, width);
  return spec;
}

}  // namespace slimbayes
