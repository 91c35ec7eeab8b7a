#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/core/cubature.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/families/method.h"

namespace slimbayes {

/// How many events a fitted Cox process expects in its domain (to be compared with the number in the table
/// that it was fitted on): the integral of its mean intensity, adaptive (core/cubature.h), to a relative
/// error of 1e-5 where its nodes suffice. `probes` [p, d], encoded, are event_probes() of the training
/// events; undefined for none.
Integral expected_events(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes);

/// n, expected, and the mean of -log p of an event's place, p = mean intensity / expected, beside that of the
/// uniform density, both in the user's units: nll, nll_uniform. expected_error, the estimate of the
/// integral's error, is there where it is above 1e-4 of `expected`; the nll is uncertain by their ratio. `p`
/// is the answer at the events. Throws std::invalid_argument for no events and NumericalError for an
/// intensity that overflows.
nlohmann::json events_report(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes,
                             const Intensity& p);

}  // namespace slimbayes
