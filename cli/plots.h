#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/encoding/task.h"

namespace slimbayes::cli {

/// Makes the folder and returns the files that evaluate --plots writes for a task: selective.svg (except for
/// segmentation), then reliability.svg (classes) or calibration.svg (regression), and with foreign data
/// scores.svg. Call it before long work, so that a folder that cannot be written is an error at once. Returns
/// no files if `folder` is "". Throws std::invalid_argument for events, which have no plots, and DataError if
/// the folder cannot be made or a file not be written.
std::vector<std::filesystem::path> plot_files(const std::string& folder, const Task& task, bool foreign);

/// Draws the plot that the name of the file says from the report of an evaluation with
/// answers/uncertainty_report.h, whose `ood` is separation(), and writes it. A plot shows the numbers of the
/// report, which --json prints.
void write_plot(const std::filesystem::path& file, const nlohmann::json& report);

}  // namespace slimbayes::cli
