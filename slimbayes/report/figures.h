#pragma once

#include <string>

#include "slimbayes/report/answer_facts.h"
#include "slimbayes/report/chart.h"
#include "slimbayes/report/row_facts.h"

namespace slimbayes {

// The plots of a report from its facts (report_facts()). `noun` is the word for one example.

Chart predicted_figure(const PredictedRows& predicted, const std::string& target);
Chart calibration_figure(const CalibrationFact& calibration);
Chart pit_figure(const PitFact& pit);
Chart residual_figure(const ResidualFact& residual);
Chart score_figure(const std::string& name, const ScoreHistogram& histogram, const std::string& noun);
Chart reliability_figure(const ReliabilityFact& reliability);
Chart selective_figure(const SelectiveFact& selective);
Chart entropy_figure(const EntropyFact& entropy, const std::string& noun);
Chart set_size_figure(const SetFact& sets, const std::string& noun);
/// `series` is one of the series of the forecast.
Chart forecast_figure(const ForecastFact& forecast, const SeriesFact& series, const std::string& target,
                      double level);

}  // namespace slimbayes
