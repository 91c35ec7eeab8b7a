#pragma once

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/core/cubature.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/method/method.h"

namespace slimbayes {

/// Returns the number of events that a fitted Cox process expects in its domain, for comparison with the
/// number of events in the data. It is the integral of the mean intensity over the domain, computed
/// adaptively (core/cubature.h) to a relative error of 1e-5; the error may be larger if the limit on
/// evaluations is reached first. `probes` [p, d] are encoded training events (event_probes()), near which the
/// integration looks for peaks of the intensity; undefined: none.
Integral expected_events(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes);

/// Returns the metrics of n events: EventScores::expected, the number of events that the model expects in the
/// domain; the nll, the mean over the events of -log(mean intensity / expected), where the quotient is the
/// density of one event; and nll_uniform, the same for the uniform density. Both NLLs are in the user's
/// units. expected_error, the estimated error of `expected`, is present if it exceeds 1e-4 of `expected`; the
/// nll may then be wrong by expected_error / expected. `p` is the model's answer at the events. `probes` is
/// as for expected_events. Throws std::invalid_argument for no events and NumericalError for an intensity
/// that overflows.
Evaluation events_report(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes,
                         const Intensity& p);

}  // namespace slimbayes
