#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns up to 512 of these places [n, d], evenly spaced in their order. The integral of an intensity over
/// the domain looks for peaks at them.
at::Tensor event_probes(const at::Tensor& places);

}  // namespace slimbayes
