#pragma once

#include "slimbayes/export.h"

namespace slimbayes {

/// The answer to one row of a regression, in units of the target.
struct RowAnswer {
  double mean = 0;
  double aleatoric_var = 0, epistemic_var = 0;
  bool zeroed = false;  // whether rounding made the epistemic variance negative; it was set to 0

  SLIMBAYES_EXPORT double sd() const;  // the total standard deviation
};

/// The ends of an interval of one row, in units of the target.
struct RowInterval {
  double lower = 0, upper = 0;
};

}  // namespace slimbayes
