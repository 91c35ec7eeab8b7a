#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes::cli {

/// The result of one method: one report per seed, with `seed`, `seconds` and `notes`.
struct Outcome {
  std::string method;
  std::vector<nlohmann::json> runs;
  std::string failure;  // why the method failed, a sentence; empty: it did not fail
  /// The exception behind `failure`; null if there was none.
  std::exception_ptr thrown;
};

/// A note that one or more fits gave, in the words of the first of them.
struct SharedNote {
  std::string text;
  std::string of;  // the fits that gave it, "dbk, dnn (2 of 5 fits)"; empty: every fit
};

/// Returns the notes of all runs, each once. Notes that differ only in their numbers count as one.
std::vector<SharedNote> shared_notes(const std::vector<Outcome>& outcomes);

/// Returns a table with one line per method: means and sds over its seeds. In each column with a criterion
/// the best value is marked.
std::string comparison_table(const std::vector<Outcome>& outcomes, double level);

/// Returns the comparison as JSON: every run, means, sds and notes.
nlohmann::json comparison_json(const std::vector<Outcome>& outcomes);

}  // namespace slimbayes::cli
