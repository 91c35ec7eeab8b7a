#pragma once

#include <memory>
#include <vector>

#include "slimbayes/engine/features.h"

namespace slimbayes::engine {

/// The parameters of the expansion of basis/fourier.cpp.
struct FourierValues {
  const std::vector<float>& weight;  // W [r, h]
  const std::vector<float>& bias;    // b [r]
  float log_amplitude;
};

/// Returns the features s sqrt(2 / r) cos(W g + b) of the features g [h] of `of`, computed in float64 from
/// the parameters, which are copied.
std::shared_ptr<const Features> fourier_features(std::shared_ptr<const Features> of,
                                                 const FourierValues& values);

}  // namespace slimbayes::engine
