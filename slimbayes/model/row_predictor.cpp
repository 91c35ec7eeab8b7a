#include "slimbayes/model/row_predictor.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/row_mixture.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/encoding/number_row.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes {

namespace {

std::shared_ptr<const engine::RowModel> row_model_of(const Model& model) {
  const Task& task = model.schema().task;
  if (task.kind != TaskKind::regression)
    refuse("RowPredictor", "a model of a regression", name_of(task.kind));
  if (!std::holds_alternative<Encoder>(model.encoder()))
    refuse("RowPredictor", "a model of rows of a table", name_of(kind_of(model.encoder())));
  std::shared_ptr<const engine::RowModel> rows = model.fitted().row_model();
  if (!rows)
    refuse("RowPredictor", "a model that the engine knows", model.method(),
           "Model::predict answers rows by libtorch");
  return rows;
}

/// The shapes of the density in units of the target; of a Gaussian answer one component.
std::vector<ComponentShape> in_target_units(std::vector<ComponentShape> shapes, const Task& task) {
  if (shapes.empty()) return {ComponentShape{}};
  for (ComponentShape& c : shapes) {
    c.shift = task.y_shift + task.y_scale * c.shift;
    c.scale *= task.y_scale;
  }
  return shapes;
}

}  // namespace

struct RowPredictor::State {
  std::shared_ptr<const engine::RowModel> rows;
  NumberRow encoder;
  double shift, scale, least_noise, least;
  ConformalScores calibration;
  bool gaussian;
  RowMixture mixture;
  std::vector<float> encoded;
  std::vector<double> x, out;
  engine::Doubles scratch;
  std::vector<RowMixture::Part> parts;
  std::optional<RowAnswer> last;  // of the row in `out`
  // What interval() prepared for the level that it was asked for last.
  double level = std::numeric_limits<double>::quiet_NaN(), factor = 0;
  RowMixture::Units lower, upper;

  explicit State(const Model& model)
      : rows(row_model_of(model)),
        encoder(std::get<Encoder>(model.encoder())),
        shift(model.schema().task.y_shift),
        scale(model.schema().task.y_scale),
        least_noise(model.noise().var),
        least(model.schema().task.low >= 0 ? 0 : -std::numeric_limits<double>::infinity()),
        calibration(model.calibration()),
        gaussian(rows->density().empty()),
        mixture(in_target_units(rows->density(), model.schema().task)),
        encoded(static_cast<size_t>(rows->inputs())),
        x(encoded.size()),
        out(static_cast<size_t>(rows->numbers())),
        scratch(rows->scratch()),
        parts(mixture.size()) {}

  RowAnswer answer() {
    last.reset();
    const bool zeroed = rows->answer(x.data(), 1, out.data(), 1, scratch.data()) > 0;
    if (gaussian) out[1] = std::max(out[1], least_noise);
    RowAnswer now{shift + scale * out[0], scale * scale * out[1], scale * scale * out[2], zeroed};
    if (!gaussian && now.mean < least) now.mean = least;
    last = now;
    return now;
  }

  void prepare(double asked) {
    check_level(asked, "interval");
    factor = calibration.groups > 0 ? conformal_factor(calibration, asked) * (gaussian ? 1 : 1 + 1e-9)
                                    : normal_quantile((1 + asked) / 2);
    lower = mixture.units(-factor);
    upper = mixture.units(factor);
    level = asked;
  }

  RowInterval interval() {
    constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
    const bool calibrated = calibration.groups > 0;
    RowInterval range;
    const double sd = last->sd(), mean = last->mean;
    if (gaussian) {
      double half = factor * sd;
      if (calibrated) half = half * (1 + 1e-9) + kRounding * std::abs(mean);
      range = {mean - half, mean + half};
    } else {
      for (size_t k = 0; k < parts.size(); ++k)
        parts[k] = mixture.part(k, out[3 + 3 * k], out[4 + 3 * k] + out[5 + 3 * k]);
      range = {mixture.quantile(parts, lower, sd), mixture.quantile(parts, upper, sd)};
      if (calibrated) {
        range.lower -= kRounding * std::abs(range.lower);
        range.upper += kRounding * std::abs(range.upper);
      }
    }
    return {std::max(range.lower, least), std::max(range.upper, least)};
  }
};

double RowAnswer::sd() const { return std::sqrt(aleatoric_var + epistemic_var); }

RowPredictor::RowPredictor(const Model& model) : state_(std::make_unique<State>(model)) {}
RowPredictor::RowPredictor(RowPredictor&&) noexcept = default;
RowPredictor::~RowPredictor() = default;

const std::vector<std::string>& RowPredictor::columns() const { return state_->encoder.columns(); }
int64_t RowPredictor::inputs() const { return state_->rows->inputs(); }

RowAnswer RowPredictor::operator()(std::span<const double> cells) {
  State& s = *state_;
  s.encoder.encode(cells, s.encoded);
  std::ranges::copy(s.encoded, s.x.begin());
  return s.answer();
}

RowAnswer RowPredictor::encoded(std::span<const float> x) {
  State& s = *state_;
  if (x.size() != s.x.size())
    refuse("RowPredictor", fmt::format("{} inputs", s.x.size()), std::to_string(x.size()));
  if (!std::ranges::all_of(x, [](float one) { return std::isfinite(one); }))
    refuse("RowPredictor", "finite inputs", "NaN or infinity", "RowPredictor's operator() takes cells");
  std::ranges::copy(x, s.x.begin());
  return s.answer();
}

RowInterval RowPredictor::interval(double level) {
  State& s = *state_;
  check(s.last.has_value(), "RowPredictor", "an answer before its interval", "none yet");
  if (level != s.level) s.prepare(level);
  return s.interval();
}

}  // namespace slimbayes
