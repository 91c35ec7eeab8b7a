#pragma once

#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

/// Which options a method has besides those of VariationalOptions.
enum class PresetOptions { low_rank, low_rank_svd, full_rank, rank_one };

/// Returns the settings of the experiments of Toure and Stephens (appendix G) as presets, with the options
/// that the method has: paper-clinical (MIMIC-III), paper-beijing, paper-sst2, paper-mnist and paper-toy. The
/// weight of the KL is stated per training row: kappa / n times the KL is added to the mean NLL of a row.
std::vector<Preset> paper_presets(PresetOptions options);

/// Returns the settings of FiD-GP's ResNet-18 (section 5.2 and table 7) as the preset "paper", for the
/// methods on inducing weights with a flow: the flow on convolutions alone, rows of Z that vary, 200 epochs.
Preset inducing_preset();

}  // namespace slimbayes
