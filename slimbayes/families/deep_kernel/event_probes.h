#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns up to 512 of these places [n, d], evenly spaced in their order. The integral of an intensity over
/// the domain uses them as points at which to look for peaks.
at::Tensor event_probes(const at::Tensor& places);

}  // namespace slimbayes
