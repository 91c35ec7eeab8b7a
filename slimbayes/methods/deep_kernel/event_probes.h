#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns up to 512 of the places [n, d] at which events happened, evenly spaced in their order. Give them
/// to integral() (core/cubature.h) as probes: there it looks for peaks of the intensity, which lie near
/// events. [min(n, 512), d]
at::Tensor event_probes(const at::Tensor& places);

}  // namespace slimbayes
