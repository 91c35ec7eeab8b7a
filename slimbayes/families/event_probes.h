#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Up to 512 of these places [n, d], evenly spaced in their order: the integral over the domain looks for
/// peaks there.
at::Tensor event_probes(const at::Tensor& places);

}  // namespace slimbayes
