#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/comparison.h"

namespace slimbayes::cli {

/// A note of one or more fits, in the words of the first of them.
struct SharedNote {
  std::string text;
  std::string of;  // the fits with this note, "dbk, dnn (2 of 5 fits)"; empty: every fit
};

/// Returns the notes of all runs, each once. Notes that differ only in their numbers count as one.
std::vector<SharedNote> shared_notes(const std::vector<MethodRuns>& outcomes);

/// Returns a table with one line per method: means and sds over its seeds. The best value is marked in each
/// column whose metric has a best direction: lowest, highest, or nearest to `level`.
std::string comparison_table(const std::vector<MethodRuns>& outcomes, double level);

/// Returns the comparison as JSON: every run, means, sds and notes.
nlohmann::json comparison_json(const std::vector<MethodRuns>& outcomes);

}  // namespace slimbayes::cli
