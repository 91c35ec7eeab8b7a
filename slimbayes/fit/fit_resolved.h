#pragma once

#include <string>

#include "slimbayes/fit/fit_data.h"
#include "slimbayes/fit/resolved_fit.h"

namespace slimbayes {

/// Fits a method to data as `request` says, in which every choice has been made (resolve_fit), and returns
/// the model. Use it instead of fit_model() if the request is needed before the fit. `callback` may be
/// nullptr. `networks` holds trained networks for several fits of the same examples (FitContext::networks);
/// nullptr: the fit shares none. Throws std::invalid_argument, DataError or NumericalError.
Model fit_resolved(const ResolvedFit& request, const FitData& data, Callback* callback = nullptr,
                   CheckpointPolicy checkpoint = {}, NetworkCache* networks = nullptr);

/// The metadata key under which the model file of a finished fit has its fingerprint.
inline constexpr const char* kFingerprint = "fingerprint";

/// Returns the fingerprint of a fit: a JSON text with everything that decides its result, except the program
/// itself (FitFile).
std::string fit_fingerprint(const ResolvedFit& request, const FitData& data);

}  // namespace slimbayes
