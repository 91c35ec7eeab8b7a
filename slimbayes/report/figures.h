#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/report/chart.h"

namespace slimbayes {

// The plots of a report from its facts (report_facts()). `noun` is the word for one example.

Chart predicted_figure(const nlohmann::json& predicted, const std::string& target);
Chart calibration_figure(const nlohmann::json& calibration);
Chart pit_figure(const nlohmann::json& pit);
Chart residual_figure(const nlohmann::json& residual);
Chart score_figure(const std::string& name, const nlohmann::json& histogram, const std::string& noun);
Chart reliability_figure(const nlohmann::json& reliability);
Chart selective_figure(const nlohmann::json& selective);
Chart entropy_figure(const nlohmann::json& entropy, const std::string& noun);
Chart set_size_figure(const nlohmann::json& sets, const std::string& noun);
/// `forecast` is the part of the facts and `series` one of its series.
Chart forecast_figure(const nlohmann::json& forecast, const nlohmann::json& series, const std::string& target,
                      double level);

}  // namespace slimbayes
