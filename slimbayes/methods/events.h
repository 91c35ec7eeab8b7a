#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/data/encoder.h"
#include "slimbayes/methods/method.h"

namespace slimbayes {

/// How many events a fitted Cox process expects in its domain (to be compared with the number in the table that it was
/// fitted on): the integral of its mean intensity, by Gauss-Legendre quadrature up to three coordinates, else over 2^15
/// points at random.
double expected_events(const Fitted& fitted, const Encoder& encoder);

/// n, expected, and the mean of -log p of an event's place, p = mean intensity / expected, beside that of the uniform
/// density, both in the user's units: nll, nll_uniform. `p` is the answer at the events. Throws std::invalid_argument for
/// no events.
nlohmann::json events_report(const Fitted& fitted, const Encoder& encoder, const Intensity& p);

}  // namespace slimbayes
