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

}  // namespace slimbayes
