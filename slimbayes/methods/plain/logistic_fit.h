#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/methods/plain/logistic_rows.h"
#include "slimbayes/train/callback.h"

namespace slimbayes {

/// Returns whether the full Hessian is used: for at most 2,000 coefficients and 32 contrasts, if a pass over
/// the rows takes at most 2e11 multiplications (some 10 to 20 s). k contrasts, d columns, n rows.
inline bool full_logistic(int64_t k, int64_t d, int64_t n) {
  const double size = static_cast<double>(k) * static_cast<double>(d + 1);
  return size <= 2000 && k <= 32 && static_cast<double>(n) * size * size <= 2e11;
}

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

/// Returns the prior sd of the weights with the greatest evidence, of those that were tried before the
/// callback, which may be nullptr, ends the search. Throws NumericalError if no evidence is finite.
double evidence_prior_sd(const LogisticRows& rows, Callback* callback);

}  // namespace slimbayes
