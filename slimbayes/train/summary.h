#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes {

/// How a fit went, as plain numbers; saved in the model file.
struct Summary {
  int64_t rows = 0, valid_rows = 0;
  int64_t steps = 0, epochs = 0, best_epoch = 0;
  /// What the kept parameters were chosen by, lower is better: the NLL of the validation rows (of a
  /// regression that of the standardised target), dnn's mean squared error, gp-exact's -log evidence a row of
  /// its training rows.
  std::string score = "score";
  /// Of the kept parameters; nan (JSON: null) where there was nothing to choose by.
  double best_score = std::numeric_limits<double>::quiet_NaN();
  double seconds = 0;  // of this process and those it resumed; not saved: the same fit gives the same file
  std::string stopped =
      "budget";       // budget, patience, time, interrupted, converged, failure (a note says which)
  double jitter = 0;  // that the factorisation behind the predictions needed, as a share of its mean diagonal
  std::vector<std::string> notes;

  std::string brief() const;  // one line
};

/// Without the seconds.
nlohmann::json to_json(const Summary& summary);
/// What is absent keeps its default. Throws std::invalid_argument for a value of another type, a count below
/// 0 and a number that is not finite.
Summary summary_from_json(const nlohmann::json& json);

}  // namespace slimbayes
