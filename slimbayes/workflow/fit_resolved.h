#pragma once

#include "slimbayes/workflow/fit_data.h"
#include "slimbayes/workflow/resolved_fit.h"

namespace slimbayes {

/// Fits a resolved request to its data: fit_model() without its first stage. `networks` is
/// FitContext::networks. Throws as fit_model.
Model fit_resolved(const ResolvedFit& request, const FitData& data, Callback* callback = nullptr,
                   CheckpointPolicy checkpoint = {}, NetworkCache* networks = nullptr);

}  // namespace slimbayes
