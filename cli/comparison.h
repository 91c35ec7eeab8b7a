#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slimbayes::cli {

/// What became of one method: a report a seed, with `seed`, `seconds` and `notes`.
struct Outcome {
  std::string method;
  std::vector<nlohmann::json> runs;
  std::string failure;  // a sentence; empty: none
  std::exception_ptr thrown;
};

/// A note of some fits, in the words of the first of them.
struct SharedNote {
  std::string text;
  std::string of;  // "dbk, dnn (2 of 5 fits)"; empty: of every fit
};

/// The notes of all runs, each once: those that differ in their numbers alone are one.
std::vector<SharedNote> shared_notes(const std::vector<Outcome>& outcomes);

/// A line a method: means and sds over its seeds, what it is to be compared by marked as the best.
std::string comparison_table(const std::vector<Outcome>& outcomes, double level);

/// The same for a machine: every run, means, sds, notes.
nlohmann::json comparison_json(const std::vector<Outcome>& outcomes);

}  // namespace slimbayes::cli
