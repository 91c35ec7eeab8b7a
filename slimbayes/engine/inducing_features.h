#pragma once

#include <memory>

#include "slimbayes/engine/features.h"
#include "slimbayes/engine/inducing_points.h"

namespace slimbayes::engine {

/// Returns the expansion of basis/rbf.cpp, by `rank` inducing points, on the features `of`, computed in
/// float64. The parameters are copied. nullptr where the kernel of the points cannot be factorised without
/// jitter (InducingPoints::prepare).
std::shared_ptr<const Features> inducing_features(std::shared_ptr<const Features> of, int64_t rank,
                                                  const InducingValues<const float>& values);

}  // namespace slimbayes::engine
