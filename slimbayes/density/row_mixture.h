#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/density/warp.h"

namespace slimbayes {

/// What all rows share of one component of a density; DensityComponent (answers/predictive.h) explains the
/// fields.
struct ComponentShape {
  double weight = 1;
  double dof = std::numeric_limits<double>::infinity();
  TargetWarp warp = TargetWarp::none;
  double shift = 0, scale = 1;
  double most_var = std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity(), spare_var = 0;
};

/// Returns the shape of a component with weight 1 whose warp is the inverse of TargetBounds::unbounded.
ComponentShape shape_within(const TargetBounds& bounds);

/// A mean and the two parts of a variance, of a row.
struct RowMoments {
  double mean = 0, aleatoric_var = 0, epistemic_var = 0;

  double var() const { return aleatoric_var + epistemic_var; }
};

/// Returns the moments of the target of a row under one component, from those of its warped target. For a log
/// target they are those of a log-normal distribution, whose epistemic variance is that of E[y | f] = exp(f +
/// aleatoric_var / 2), within the bound of DensityComponent::most; those of
/// TargetWarp::log_below are its mirror image, without that bound. For TargetWarp::logit they are computed by
/// quadrature (density/logistic_moments).
RowMoments target_moments(const ComponentShape& shape, const RowMoments& warped);

/// Returns the moments of the target of a row under a mixture (law of total variance), from the weights and
/// the moments of its components. The weights must have the sum 1.
RowMoments mixed_moments(std::span<const ComponentShape> shapes, std::span<const RowMoments> targets);

/// The density of a row as a mixture of components, in plain numbers and without libtorch: what
/// answers/density.h computes of tensors, it computes row by row through this class. An object serves all
/// rows of a model; it is immutable.
class RowMixture {
 public:
  /// The location and the scale of the unit distribution of a component in one row, for the warped target.
  struct Part {
    double mean, scale;
  };

  explicit RowMixture(std::span<const ComponentShape> shapes);

  size_t size() const { return all_.size(); }

  /// Returns the part of component k in a row whose warped target has this mean and this variance.
  Part part(size_t k, double mean, double var) const;

  /// Return what regression_row_nll (with the other sign) and normal_score (answers/density.h) say of one
  /// row. `parts` has one element for each component.
  double log_density(std::span<const Part> parts, double y) const;
  double normal_score(std::span<const Part> parts, double y) const;

  /// Returns log P(lower <= Y <= upper) of one row, stable as log_student_between (density/truncated.h). A
  /// bound may be infinite. -inf where no component has a part of the interval in its range, and for lower =
  /// upper.
  double log_between(std::span<const Part> parts, double lower, double upper) const;

  /// A normal score with what all rows share of it.
  struct Units {
    double score = 0;
    double tail = 0, density = 0;  // of the standard normal distribution beyond |score|, and there
    std::vector<double> of;        // the quantile of each component's unit distribution
  };
  Units units(double score) const;

  /// Returns the quantile of a row at the score of `units`, to 1e-12 of `sd`, the standard deviation of the
  /// row. Throws NumericalError if it is not found.
  double quantile(std::span<const Part> parts, const Units& units, double sd) const;

  /// Returns what regression_row_crps says of one row. `ends` is the result of crps_ends(), which all rows
  /// share.
  std::vector<Units> crps_ends() const;
  double crps(std::span<const Part> parts, double y, std::span<const Units> ends) const;

 private:
  struct Component {
    double weight, log_weight, dof, shift, scale;
    TargetWarp warp;
    double log_constant;  // of the unit log density
    double crps_spread;   // of student_unit_crps; only of a single component

    bool gaussian() const;
    double warped(double y) const;
    double unwarped(double t) const;
    double warped_width(double lower, double upper) const;
    double log_slope(double t) const;
    double log_unit_density(double z) const;
  };
  /// The normal score of y in a row, and its derivative.
  struct ScoreAt {
    double score, slope;
  };

  double far_score(std::span<const Part> parts, double y) const;
  ScoreAt score_near(std::span<const Part> parts, double y, const Units& target) const;

  std::vector<Component> all_;
};

}  // namespace slimbayes
