#pragma once

#include "slimbayes/model/model.h"
#include "slimbayes/report/report_facts.h"

namespace slimbayes {

/// Returns what a reader must know of a model.
ModelCard card_facts(const Model& model);

}  // namespace slimbayes
