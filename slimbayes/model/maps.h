#pragma once

#include <cstdint>
#include <filesystem>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Writes the maps of the answer `p` [h w] to image number `image` (from 0) of `images` into a folder, as PNG
/// files whose names begin with the number from 1, such as 007:
///   007_classes.png             the most probable class of each pixel; its value is the number of the class
///   007_entropy.png             grey, from 0 to the entropy of equally probable classes, log C
///   007_mutual_information.png  in the same scale; only if the answers of the method average several
///                               networks, because it is 0 for one network
void write_maps(const Model& model, const Classes& p, int64_t image, int64_t images,
                const std::filesystem::path& folder);

/// Returns the legend of the maps of classes: class (its number), name, red, green, blue.
Table legend_of(const Model& model);

}  // namespace slimbayes
