#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/methods/logistic_rows.h"

namespace slimbayes {

/// The most coefficients of a logistic regression for which the full Hessian is used.
inline constexpr int64_t kFullLogistic = 2000;

/// The mode of a logistic regression's posterior.
struct LogisticMode {
  at::Tensor coefficients;  // V [k, d + 1], in the coordinates of LogisticDesign
  LogisticLoss loss;        // there
  int64_t steps = 0;        // of Newton's method
};

/// Returns the mode for this prior sd, by Newton's method from the coefficients `start` [k, d + 1] until the
/// next step would lower the loss by less than about `tolerance`. Throws NumericalError if the loss is not
/// finite.
LogisticMode logistic_mode(const LogisticRows& rows, double prior_sd, const at::Tensor& start,
                           double tolerance);

/// Returns the log evidence of the Laplace approximation at a mode, log p(y | V) - |V|^2 / 2 - log |I + H| /
/// 2 (MacKay 1992).
double log_evidence(const LogisticRows& rows, const LogisticMode& mode, double prior_sd);

/// Returns the prior sd of the weights with the greatest evidence. Throws NumericalError if no evidence is
/// finite.
double evidence_prior_sd(const LogisticRows& rows);

}  // namespace slimbayes
