#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes::cli {

/// Returns those names of `metrics` (field_numbers of an Evaluation) that are shown, in the order in which
/// they are shown. It knows the metrics of every task.
std::vector<std::string> metrics_of(const std::map<std::string, double>& metrics);

/// Returns the name of a metric for a person, with its level or class where it has one. `report` is one that
/// has the metric, and `level`, `noun` are as below.
std::string label_of(const std::string& key, const Evaluation& report, double level, std::string_view noun);

/// Returns the metrics as a text table, one line per metric. A regression has two columns: scores in the
/// target's units and scores on the standardised target. For windows, the scores of forecasts without a model
/// follow; for classes, the confusion matrix. `level` is the level of the reported interval. `noun` is the
/// word for one example: "row", "window", "image". `epistemic` adds the intervals of the epistemic sd alone.
std::string report_table(const Evaluation& report, double level, std::string_view noun,
                         const std::optional<EpistemicReport>& epistemic = {});

/// Returns one line that compares the MAE or accuracy of the model on windows with those of forecasts without
/// a model, such as the last known value (model/persistence.h). "" if the report has no such forecasts.
/// `part` names the windows that were scored, such as "validation".
std::string forecasts_text(const Evaluation& report, std::string_view part);

/// Returns "persistence" or, with the length of its season, "seasonal persistence (24 steps)".
std::string forecast_name(const ForecastScores& forecast);

/// Returns the name of a class as it is shown, in quotes.
std::string class_name(const std::string& name);

/// Print results to stdout. On a terminal, characters in JSON that would control it are replaced (data_for).
/// Throw std::runtime_error if the results could not be written.
void print(const std::string& text);
void print(const nlohmann::json& object);

}  // namespace slimbayes::cli
