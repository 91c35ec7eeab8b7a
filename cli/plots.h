#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/answers/uncertainty_facts.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes::cli {

/// Makes the folder and returns the files that evaluate --plots writes for a task: selective.svg (except for
/// segmentation), then reliability.svg (classes) or calibration.svg (regression), and with foreign data
/// scores.svg. Call it before long work, so that a folder that cannot be written is an error at once. Returns
/// no files if `folder` is "". Throws std::invalid_argument for events, which have no plots, and DataError if
/// the folder cannot be made or a file not be written.
std::vector<std::filesystem::path> plot_files(const std::string& folder, const Task& task, bool foreign);

/// What the plots of an evaluation show.
struct PlottedReport {
  const nlohmann::json& report;          // Model::evaluate()
  const UncertaintyReport* uncertainty;  // nullptr for segmentation
  const SeparationReport* ood;           // nullptr without foreign data
};

/// Draws the plot that the name of the file says from the numbers that --json prints, and writes it.
void write_plot(const std::filesystem::path& file, const PlottedReport& plotted);

}  // namespace slimbayes::cli
