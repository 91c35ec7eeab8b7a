#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/method/method.h"

namespace slimbayes {

/// The least number of validation rows that determine the noise reliably. With NoiseFolds::grouped, rows with
/// identical inputs count once. If there are fewer, the noise is estimated by cross-fitting.
inline constexpr int64_t kEnoughRows = 30;

/// How the noise of a fit is estimated by cross-fitting, and the words of the notes on it.
struct NoiseFolds {
  int64_t folds = 5;    // 0: no cross-fitting
  bool grouped = true;  // rows with identical inputs share a fold
  Stream deal{0};       // decides which rows are in which fold
  /// False: no folds are fitted. Set it to false for windows, which overlap, for rows that are not in memory,
  /// and for a fit with the network of another model, because that network has seen the rows of all folds.
  bool possible = true;
  std::string_view noun = "row";  // the word for one example in notes
  bool splits = true;             // notes may advise a larger validation fraction
  int64_t known = 0;              // validation rows that gave the noise of a network from another model
  /// The options of the main fit if they are known before it, so that folds can run beside it; null if it
  /// chooses them (tune).
  nlohmann::json options = {};
};

/// Cross-fitting fits the method once more for each fold. It is used for at most kMostRows training rows:
/// larger tables can give up more validation rows instead, which costs less. It needs at least kFewestGroups
/// different inputs: with fewer, the correction g / (g - 2) for g inputs (noise_folds.cpp) would be 3 or
/// infinite.
inline constexpr int64_t kMostRows = 2000, kFewestGroups = 4;

/// Returns the number of validation rows. With `grouped`, rows with identical inputs count once, because they
/// show the noise at one input only. Of rows with weights it is the effective number (effective_rows in
/// method/row_weights.h), rounded down; an input has the mean weight of its rows.
int64_t validation_units(const Split& parts, bool grouped);

/// Returns the first words of a note on few validation rows: "only 3 validation rows", "only 4 different
/// inputs among 32 validation rows", "no validation rows" or, of rows with weights, "40 validation rows whose
/// weights are worth only 7 equal ones". `noun` replaces "row".
std::string few(const Split& parts, bool grouped, std::string_view noun = "row");

/// Returns why the noise of a fit cannot be right, given its answers `p` to the validation rows: too many of
/// these rows lie outside their 95 % intervals, or the NLL is no better than a constant's, both by the
/// weights of the rows. The text forms the first words of a note; "" if neither holds.
std::string noise_doubt(const Regression& p, const Split& parts, const NoiseFolds& how);

/// Returns the note on few validation rows for a fit whose noise is not cross-fitted. It says what to expect
/// of the answers and what the user can do.
std::string few_rows_note(const Split& parts, const NoiseFolds& how);

}  // namespace slimbayes
