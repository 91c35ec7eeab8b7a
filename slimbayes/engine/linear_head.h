#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slimbayes/engine/features.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

/// How the answer to a row follows from its features phi [r]:
///   mean                constant + <weights, phi>, plus the network's output if there is one
///   aleatoric variance  noise_var
///   epistemic variance  |root phi + root_constant|^2 + constant_var (1 - <response, phi> -
///                       response_constant)^2 + the part that the features do not cover
/// That part is max(largest - |phi|^2, 0), or prior_var - |phi|^2 of features that approximate a kernel with
/// this variance, or 0 where both are empty. A vector that is empty counts as zero.
struct LinearHead {
  double constant = 0, noise_var = 0;
  std::vector<double> weights = {};        // [r]
  std::vector<double> root = {};           // [q, r], row after row
  std::vector<double> root_constant = {};  // [q]
  double constant_var = 0, response_constant = 0;
  std::vector<double> response = {};  // [r]
  std::optional<double> largest = {}, prior_var = {};
};

/// Returns the regression with this head on these features. All sums are float64. Throws
/// std::invalid_argument for a head that does not fit the features.
std::shared_ptr<const RowModel> linear_row_model(std::shared_ptr<const Features> features,
                                                 const LinearHead& head);

}  // namespace slimbayes::engine
