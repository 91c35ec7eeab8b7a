#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/answers/conditional/excess_risk.h"
#include "slimbayes/answers/conditional/row_scores.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Probabilities by fits that did not see the row.
struct CoverageProbability {
  at::Tensor p;     // [n] float64
  at::Tensor fold;  // [n] int64, from 0
};

/// Returns the inputs x [n, d] with hinge functions of each column: max(x - q, 0) at the quintiles q that lie
/// strictly between its least and its largest value. A linear model of them is a piecewise linear function of
/// each column. Columns of two values have none; nor has any if there would be more than 300 columns. [n, m]
at::Tensor with_hinges(const at::Tensor& x);

/// Returns the probability of z = 1 given x, cross-fitted in five folds: for each fold by `logistic`
/// (methods/plain), fitted without the fold on with_hinges(x). Its prior shrinks the coefficients until they
/// are 0 where the inputs say nothing of z, so that the probabilities are then the share of z. It is additive
/// in the columns: what only two columns together tell, it does not find. Rows with equal inputs share a
/// fold. x [n, d] finite, z [n] 0 or 1. The same numbers for the same rows. Throws std::invalid_argument for
/// fewer than two different rows, and NumericalError as the method.
CoverageProbability cross_fitted_probability(const at::Tensor& x, const at::Tensor& z);

/// Returns excess_risk() of the rows that `answers` answers by cross_fitted_probability() on the encoded
/// inputs; `scores` are those of row_scores(). Of more than 20,000 rows it takes 20,000 random ones. `absent`
/// The classifier takes each row once, also with weights. `absent`
/// says why in place of numbers: for windows (which overlap), images and texts, for fewer than 100 rows or
/// five different inputs, for more than 1,000 encoded columns, and for classes without calibration.
ExcessRisk coverage_risk(const Model& model, const Examples& examples, const Answers& answers,
                         const RowScores& scores);

}  // namespace slimbayes
