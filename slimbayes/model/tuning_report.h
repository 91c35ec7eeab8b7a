#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// A combination of options that a search tried: it has either a validation NLL or a failure.
struct TriedOptions {
  nlohmann::json options = nlohmann::json::object();  // {name: value, ...}
  std::optional<double> valid_nll = {};
  std::optional<std::string> failed = {};

  bool operator==(const TriedOptions&) const = default;
};

template <class V>
void describe(TriedOptions& f, V& v) {
  v.part(f.options);
  v("valid_nll", f.valid_nll, "mean NLL of the validation rows, in nats a row of the standardised target");
  v("failed", f.failed, "why the combination could not be fitted");
}

/// The report of a search over options, which a model keeps (a struct of catalog/fields.h).
struct TuningReport {
  std::vector<std::string> options = {};
  std::optional<int64_t> combinations = {};
  std::vector<TriedOptions> tried = {};
  std::optional<TriedOptions> best = {};
  std::optional<double> spread = {};
  std::optional<bool> interrupted = {};
  std::optional<int64_t> untried = {};

  bool operator==(const TuningReport&) const = default;
};

template <class V>
void describe(TuningReport& f, V& v) {
  v("options", f.options, "names of the options that were tuned");
  v("combinations", f.combinations, "number of their combinations");
  v("tried", f.tried, "the combinations that were tried: values with a valid_nll or why they failed");
  v("best", f.best, "the combination with the least valid_nll, which the model has");
  v("spread", f.spread, "the largest valid_nll minus the smallest: how much the choice mattered");
  v("interrupted", f.interrupted, "true if the user stopped the search; else absent");
  v("untried", f.untried, "number of combinations that the time limit left out");
}

/// Reads the report from JSON. Throws std::invalid_argument unless it has the form of fields_to_json(): use
/// it on reports from a file, whose contents are not trusted.
SLIMBAYES_EXPORT TuningReport tuning_from_json(const nlohmann::json& report);

/// Returns whether the user stopped the search; false if nothing was tuned.
SLIMBAYES_EXPORT bool tuning_interrupted(const std::optional<TuningReport>& report);

}  // namespace slimbayes
