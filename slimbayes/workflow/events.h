#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/core/cubature.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/method/method.h"

namespace slimbayes {

/// Returns the number of events that a fitted Cox process expects in its domain, for comparison with the
/// number of events in the data. It is the integral of the mean intensity, computed adaptively
/// (core/cubature.h) to a relative error of 1e-5 if the allowed number of nodes suffices. `probes` [p, d] are
/// the encoded event_probes() of the training events; undefined: none.
Integral expected_events(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes);

/// Returns a report on events: n; expected, the expected number of events; nll, the mean of -log p at the
/// events, where p = mean intensity / expected; and nll_uniform, the same for the uniform density. Both NLLs
/// are in the user's units. expected_error, the estimated error of the integral, is present if it exceeds
/// 1e-4 of `expected`; the nll may then be wrong by expected_error / expected. `p` is the answer at the
/// events. Throws std::invalid_argument for no events and NumericalError for an intensity that overflows.
nlohmann::json events_report(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes,
                             const Intensity& p);

}  // namespace slimbayes
