#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "slimbayes/density/row_mixture.h"
#include "slimbayes/encoding/task.h"
#include "slimbayes/engine/buffer.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/serve/row_answer.h"

namespace slimbayes {

/// The scores of the calibration rows of a model (ConformalScores of answers/conformal.h): in ascending
/// order, with the group of each, and its weight where the rows have weights. Without groups the model is not
/// calibrated.
struct CalibrationScores {
  std::vector<double> value;
  std::vector<int64_t> group;
  int64_t groups = 0;
  std::vector<double> weight = {};  // empty: without weights

  /// Returns the factor of answers/conformal.h, and throws as conformal_factor() of density/conformal_rank.h.
  double factor(double level) const;
};

/// A regression that answers encoded rows in units of its target, with intervals, as Model::predict and
/// Model::interval do. Immutable: threads share it, each with a Memory of its own.
class RowRegression {
 public:
  /// `least_noise` is the least aleatoric variance of a Gaussian answer, of the standardised target.
  RowRegression(std::shared_ptr<const engine::RowModel> rows, const Task& task, double least_noise,
                CalibrationScores calibration);

  int64_t inputs() const { return rows_->inputs(); }  // d, numbers of an encoded row
  bool gaussian() const { return gaussian_; }         // whether all answers are; never within bounds

  /// What an answer needs of memory. It may serve another regression next, and then grows where it must.
  struct Memory {
    std::vector<double> out;  // [numbers, stride] of the rows that were answered together
    engine::Doubles scratch;
    std::vector<RowMixture::Part> parts;
    std::vector<RowMoments> moments;  // of the components, within bounds
    size_t stride = 1, row = 0;       // row: of the last answer
    bool zeroed = false;              // RowAnswer::zeroed of one of the rows
  };

  /// What all rows share of an interval of one level.
  struct Level {
    double level = std::numeric_limits<double>::quiet_NaN(), factor = 0;
    RowMixture::Units lower, upper;
  };

  /// Answers an encoded row x [d] of finite numbers, and leaves in `memory` what interval() needs of it. An
  /// answer that overflows is not finite.
  RowAnswer answer(std::span<const double> x, Memory& memory) const;

  /// Computes `rows` rows x [rows, d], at most kMostRows, at once: faster than one after the other, with the
  /// same bits. answer_of(i) then returns the answer to row i, whose `zeroed` is that of any of the rows, and
  /// leaves in `memory` what interval() needs of it.
  static constexpr int64_t kMostRows = engine::kChunkRows;
  void answer_together(std::span<const double> x, int64_t rows, Memory& memory) const;
  RowAnswer answer_of(int64_t i, Memory& memory) const;

  /// Throws std::invalid_argument as Model::interval.
  Level at_level(double level) const;
  /// Returns the interval around `answer`, which must be the last one of `memory`.
  RowInterval interval(const RowAnswer& answer, const Level& level, Memory& memory) const;
  /// Returns the quantile of `answer`, the last one of `memory`, at a probability in (0, 1), without
  /// calibration; at least 0 where an interval is. Throws std::invalid_argument for another probability.
  double quantile(const RowAnswer& answer, double probability, Memory& memory) const;

 private:
  RowMoments warped_moments(size_t k, const Memory& memory) const;
  RowAnswer bounded_answer(Memory& memory) const;
  double within(double y) const;
  double quantile_at(const RowMixture::Units& units, double sd, Memory& memory) const;

  std::shared_ptr<const engine::RowModel> rows_;
  double shift_, scale_, least_noise_, least_, most_;  // least_, most_: the bounds of the ends of intervals
  CalibrationScores calibration_;
  bool bounded_, gaussian_;             // bounded_: the target lies within bounds
  std::vector<ComponentShape> shapes_;  // of the density of the target
  std::vector<ComponentShape> inner_;   // of the density that rows_ answers
  RowMixture mixture_;
};

}  // namespace slimbayes
