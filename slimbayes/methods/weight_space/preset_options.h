#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

/// The methods that have these presets; low_rank and low_rank_laplace differ in their notes alone.
enum class PresetOptions : uint8_t { low_rank, low_rank_laplace, low_rank_svd, full_rank, rank_one };

/// Returns the settings of the experiments of Toure and Stephens (appendix G) as presets, with the options
/// that the method has: paper-clinical (MIMIC-III), paper-beijing, paper-sst2, paper-mnist and paper-toy. The
/// weight of the KL is stated per training row: kappa / n times the KL is added to the mean NLL of a row.
std::vector<Preset> paper_presets(PresetOptions options);

/// Returns the settings of FiD-GP's ResNet-18 (section 5.2 and table 7) as the preset "paper", for the
/// methods on inducing weights: rows of Z that vary, 200 epochs, and of a method `with_flow` the flow on
/// convolutions alone.
Preset inducing_preset(bool with_flow);

}  // namespace slimbayes
