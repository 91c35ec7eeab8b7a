#include "slimbayes/catalog/network/multiply_adds.h"

#include <algorithm>
#include <variant>

#include "slimbayes/catalog/network/visit_layers.h"

namespace slimbayes {

namespace {

/// Returns the number of steps of a sequence; 1 for other shapes and for sequences of any length.
int64_t steps_of(const Shape& input) {
  return input.is_sequence() ? std::max<int64_t>(1, input.sizes[0]) : 1;
}

int64_t of_layer(const LayerSpec& layer, const Shape& input) {
  const int64_t steps = steps_of(input), width = input.width();
  if (const auto* linear = std::get_if<Linear>(&layer)) return steps * linear->out * width;
  if (const auto* periodic = std::get_if<Periodic>(&layer))
    return width * periodic->frequencies * periodic->out;
  if (const auto* conv = std::get_if<Conv2d>(&layer)) {
    const Shape out = output(layer, input);
    return conv->out * input.sizes[0] * conv->kernel * conv->kernel * out.sizes[1] * out.sizes[2];
  }
  if (const auto* lstm = std::get_if<Lstm>(&layer)) return steps * 4 * lstm->out * (width + lstm->out);
  // Queries, keys, values and the output; then the products of queries and keys, and of weights and values.
  if (std::holds_alternative<Attention>(layer)) return 4 * steps * width * width + 2 * steps * steps * width;
  return 0;
}

}  // namespace

int64_t multiply_adds(const NetworkSpec& spec) {
  int64_t sum = 0;
  visit_layers(spec, "", [&](const LayerSpec& layer, const Shape& input, const std::string&) {
    sum += of_layer(layer, input);
  });
  return sum;
}

}  // namespace slimbayes
