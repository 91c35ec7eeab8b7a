#include "slimbayes/serve/row_regression.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

/// The shapes of the density in units of the target; of a Gaussian answer one component. Within bounds the
/// components are those of bounded() (answers/density.h): of the transformed target itself.
std::vector<ComponentShape> in_target_units(std::vector<ComponentShape> shapes, const Task& task) {
  if (shapes.empty() && !task.bounds) return {ComponentShape{}};
  if (shapes.empty()) return {shape_within(*task.bounds)};
  if (task.bounds) {
    const bool plain = std::ranges::all_of(shapes, [](const auto& c) { return c.warp == TargetWarp::none; });
    check(plain, "serve", "answers to a target without bounds", "a warped density",
          "the model file is damaged");
    for (ComponentShape& c : shapes) {
      ComponentShape own = shape_within(*task.bounds);
      own.weight = c.weight;
      own.dof = c.dof;
      c = own;
    }
    return shapes;
  }
  for (ComponentShape& c : shapes) {
    c.shift = task.y_shift + task.y_scale * c.shift;
    c.scale *= task.y_scale;
  }
  return shapes;
}

}  // namespace

double CalibrationScores::factor(double level) const {
  return conformal_factor(value, group, groups, level, weight);
}

double RowAnswer::sd() const { return std::sqrt(aleatoric_var + epistemic_var); }

RowRegression::RowRegression(std::shared_ptr<const engine::RowModel> rows, const Task& task,
                             double least_noise, CalibrationScores calibration)
    : rows_(std::move(rows)),
      shift_(task.y_shift),
      scale_(task.y_scale),
      least_noise_(least_noise),
      least_(task.bounds     ? task.bounds->low
             : task.low >= 0 ? 0
                             : -std::numeric_limits<double>::infinity()),
      most_(task.bounds ? task.bounds->high : std::numeric_limits<double>::infinity()),
      calibration_(std::move(calibration)),
      bounded_(task.bounds.has_value()),
      gaussian_(rows_->density().empty() && !bounded_),
      shapes_(in_target_units(rows_->density(), task)),
      inner_(rows_->density()),
      mixture_(shapes_) {}

void RowRegression::answer_together(std::span<const double> x, int64_t rows, Memory& memory) const {
  memory.stride = static_cast<size_t>(rows);
  memory.out.resize(static_cast<size_t>(rows_->numbers() * rows));
  memory.scratch.reserve(rows_->scratch());
  memory.parts.resize(mixture_.size());
  memory.zeroed = rows_->answer(x.data(), rows, memory.out.data(), rows, memory.scratch.data()) > 0;
}

RowAnswer RowRegression::answer_of(int64_t i, Memory& memory) const {
  memory.row = static_cast<size_t>(i);
  if (bounded_) return bounded_answer(memory);
  const auto number = [&](size_t k) { return memory.out[k * memory.stride + memory.row]; };
  const double aleatoric = gaussian_ ? std::max(number(1), least_noise_) : number(1);
  RowAnswer now{shift_ + scale_ * number(0), scale_ * scale_ * aleatoric, scale_ * scale_ * number(2),
                memory.zeroed};
  if (!gaussian_ && now.mean < least_) now.mean = least_;
  return now;
}

/// The moments of the warped target of a row under component k. Within bounds they are in units of the
/// transformed target.
RowMoments RowRegression::warped_moments(size_t k, const Memory& memory) const {
  const auto number = [&](size_t place) { return memory.out[place * memory.stride + memory.row]; };
  if (!bounded_) return {number(3 + 3 * k), number(4 + 3 * k), number(5 + 3 * k)};
  if (inner_.empty())
    return {shift_ + scale_ * number(0), scale_ * scale_ * std::max(number(1), least_noise_),
            scale_ * scale_ * number(2)};
  const double scale = scale_ * inner_[k].scale;
  return {shift_ + scale_ * inner_[k].shift + scale * number(3 + 3 * k), scale * scale * number(4 + 3 * k),
          scale * scale * number(5 + 3 * k)};
}

RowAnswer RowRegression::bounded_answer(Memory& memory) const {
  memory.moments.resize(shapes_.size());
  for (size_t k = 0; k < shapes_.size(); ++k)
    memory.moments[k] = target_moments(shapes_[k], warped_moments(k, memory));
  const RowMoments p = mixed_moments(shapes_, memory.moments);
  return {p.mean, p.aleatoric_var, p.epistemic_var, memory.zeroed};
}

RowAnswer RowRegression::answer(std::span<const double> x, Memory& memory) const {
  answer_together(x, 1, memory);
  return answer_of(0, memory);
}

RowRegression::Level RowRegression::at_level(double level) const {
  check_level(level, "interval");
  const double factor = calibration_.groups > 0 ? calibration_.factor(level) * (gaussian_ ? 1 : 1 + 1e-9)
                                                : normal_quantile((1 + level) / 2);
  return {level, factor, mixture_.units(-factor), mixture_.units(factor)};
}

double RowRegression::within(double y) const {
  const double raised = std::max(y, least_);
  return raised > most_ ? most_ : raised;
}

double RowRegression::quantile_at(const RowMixture::Units& units, double sd, Memory& memory) const {
  for (size_t k = 0; k < memory.parts.size(); ++k) {
    const RowMoments t = warped_moments(k, memory);
    memory.parts[k] = mixture_.part(k, t.mean, t.var());
  }
  return mixture_.quantile(memory.parts, units, sd);
}

double RowRegression::quantile(const RowAnswer& answer, double probability, Memory& memory) const {
  const double score = normal_quantile(probability);
  const double at =
      gaussian_ ? answer.mean + score * answer.sd() : quantile_at(mixture_.units(score), answer.sd(), memory);
  return within(at);
}

RowInterval RowRegression::interval(const RowAnswer& answer, const Level& level, Memory& memory) const {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  const bool calibrated = calibration_.groups > 0;
  const double sd = answer.sd(), mean = answer.mean;
  RowInterval range;
  if (gaussian_) {
    double half = level.factor * sd;
    if (calibrated) half = half * (1 + 1e-9) + kRounding * std::abs(mean);
    range = {mean - half, mean + half};
  } else {
    range = {quantile_at(level.lower, sd, memory), quantile_at(level.upper, sd, memory)};
    if (calibrated) {
      range.lower -= kRounding * std::abs(range.lower);
      range.upper += kRounding * std::abs(range.upper);
    }
  }
  return {within(range.lower), within(range.upper)};
}

}  // namespace slimbayes
