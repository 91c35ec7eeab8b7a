#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slimbayes/core/predictive.h"
#include "slimbayes/method/method.h"
#include "slimbayes/workflow/noise_folds.h"

namespace slimbayes {

/// Cross-fitting is used for at most kMostRows training rows: for larger tables, more validation rows cost
/// less than K more fits. It needs at least kFewestGroups different inputs.
inline constexpr int64_t kMostRows = 2000, kFewestGroups = 4;

/// Returns the number of independent validation rows. With `grouped`, rows with identical inputs count once,
/// since they show the noise at one input only.
int64_t validation_units(const Split& parts, bool grouped);

/// Returns "only 3 validation rows", "only 4 different inputs among 32 validation rows" or "no validation
/// rows", with `noun` in place of "row".
std::string few(const Split& parts, bool grouped, std::string_view noun = "row");

/// Returns why the answers `p` to the validation rows put the estimated noise in doubt; "" if they do not.
std::string noise_doubt(const Regression& p, const Split& parts, const NoiseFolds& how);

/// Returns the note on few validation rows for a fit without folds.
std::string few_rows_note(const Split& parts, const NoiseFolds& how);

}  // namespace slimbayes
