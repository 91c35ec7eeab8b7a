#include "slimbayes/model/events.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr Accuracy kAccuracy{1e-5, int64_t{1} << 18};
constexpr double kNegligible = 1e-4;

// Returns the log of the volume of the events' domain in the user's units.
double log_volume(const Encoder& encoder) {
  double sum = 0;
  for (const Axis& axis : encoder.domain()) sum += std::log(axis.high - axis.low);
  return sum;
}

}  // namespace

Integral expected_events(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes) {
  const auto axes = static_cast<int64_t>(encoder.schema().features.size());
  const at::Tensor none = at::zeros({0, axes}, at::kDouble);
  auto intensity = [&](const at::Tensor& x) {
    return mean(std::get<Intensity>(fitted.predict(dataset_of(encoder.schema(), {{x}}))).rate);
  };
  Integral whole = integral(intensity, probes.defined() ? probes : none, kAccuracy);
  const double scale = std::exp(encoder.schema().task.y_shift + log_volume(encoder) -
                                static_cast<double>(axes) * std::log(2.0));
  return {scale * whole.value, scale * whole.error, whole.nodes};
}

Evaluation events_report(const Fitted& fitted, const Encoder& encoder, const at::Tensor& probes,
                         const Intensity& p) {
  int64_t n = p.rate.log_mean.size(0);
  check(n > 0, "events_report", "at least one event", "none");
  const Integral expected = expected_events(fitted, encoder, probes);
  const double log_intensity = (p.rate.log_mean + 0.5 * p.rate.log_var).mean().item<double>();
  if (!std::isfinite(expected.value) || !std::isfinite(log_intensity)) {
    throw NumericalError(fmt::format(
        "[events_report] expected a finite intensity in the whole domain; received {} expected events: the "
        "model overflows away from its events; fit it with more events, fewer `.steps` or a smaller `.rank`",
        expected.value));
  }
  EventScores scores{.nll_uniform = log_volume(encoder), .expected = expected.value};
  if (expected.error > kNegligible * expected.value) scores.expected_error = expected.error;
  return {.n = n, .nll = std::log(expected.value) - log_intensity, .events = scores};
}

}  // namespace slimbayes
