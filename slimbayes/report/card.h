#pragma once

#include "slimbayes/model/model.h"
#include "slimbayes/report/report_facts.h"

namespace slimbayes {

/// Returns the facts on a model in a report: its method, task, rows, columns, changed options, calibration
/// and noise.
ModelCard card_facts(const Model& model);

}  // namespace slimbayes
