#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/export.h"
#include "slimbayes/model/model.h"
#include "slimbayes/serve/row_answer.h"

namespace slimbayes {

/// Answers one row after another by a regression, without tensors, in microseconds: the same numbers as
/// Model::predict and Model::interval, up to rounding. It keeps the memory that a row needs, so that no row
/// allocates any once a row has been answered. Use one in each thread; it shares the model's weights.
///
///   RowPredictor rows(model);
///   const RowAnswer answer = rows({cement, water, age});
///   const RowInterval interval = rows.interval(0.9);
class SLIMBAYES_EXPORT RowPredictor {
 public:
  /// Throws std::invalid_argument for a model of another task, of windows, images or texts, and for one whose
  /// network or method the engine does not know.
  explicit RowPredictor(const Model& model);
  RowPredictor(RowPredictor&&) noexcept;
  ~RowPredictor();

  /// Returns the names of the columns that a row of cells must have: those of training that give inputs, in
  /// the order of training.
  const std::vector<std::string>& columns() const;
  int64_t inputs() const;  // d, numbers of an encoded row

  /// Answers a row of cells in the order of columns(); NaN is a missing cell. A boolean is 0 or 1, a date
  /// seconds since 1970 UTC. An answer that overflows is not finite. Throws std::invalid_argument for another
  /// number of cells, for a model with a column of categories, and for a cell that is too far from the
  /// training rows (Encoder::inputs).
  RowAnswer operator()(std::span<const double> cells);

  /// Answers an encoded row [d] (Encoder::inputs). Throws std::invalid_argument for another size and for
  /// numbers that are not finite.
  RowAnswer encoded(std::span<const float> x);

  /// Returns the interval of this level around the last answer, as Model::interval does. A level that was
  /// asked before costs least. Throws as Model::interval, and std::invalid_argument before the first answer.
  RowInterval interval(double level);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slimbayes
