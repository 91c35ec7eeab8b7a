#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "slimbayes/answers/separation_report.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes::cli {

/// Makes the folder and returns the files that evaluate --plots writes for a task: selective.svg (except for
/// segmentation), then reliability.svg (classes) or calibration.svg (regression), and with foreign data
/// scores.svg. Call it before long work, so that a folder that cannot be written is an error at once. Returns
/// no files if `folder` is "". Throws std::invalid_argument for events, which have no plots, and DataError if
/// the folder cannot be made or a file not be written.
std::vector<std::filesystem::path> plot_files(const std::string& folder, const Task& task, bool foreign);

/// Draws the plot that the name of the file says from the numbers that --json prints, and writes it. `ood` is
/// that of foreign data.
void write_plot(const std::filesystem::path& file, const AnswerMetrics& metrics,
                const std::optional<SeparationReport>& ood);

}  // namespace slimbayes::cli
