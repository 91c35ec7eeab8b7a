#pragma once

#include <memory>

#include "slimbayes/methods/deep_kernel.h"

namespace slimbayes {

/// The member's fit to classes, counts or events: the same network and expansion, a latent function a class (or one), each
/// with a posterior of its own, trained on SVGP's bound for that likelihood. Throws std::invalid_argument for data that
/// are none, NumericalError when the loss is not finite.
std::unique_ptr<Fitted> fit_latent(const DeepKernel& kernel, const Split& split, const FitContext& context);

/// Whether the file holds such a fit, and reading it back.
bool is_latent(const TensorFile& file);
std::unique_ptr<Fitted> load_latent(const DeepKernel& kernel, const TensorFile& file);

}  // namespace slimbayes
