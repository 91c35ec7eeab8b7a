#pragma once

#include <string>

#include "cli/request.h"
#include "slimbayes/model/model.h"

namespace slimbayes::cli {

/// Runs predict with a model of segmentation: writes a line for each image, and with --maps the maps.
void predict_pixels(const PredictRequest& request, const Model& model);

/// Returns the metrics of the images, for a model of segmentation. They are answered block by
/// block, with progress on stderr. Images without a finite answer are listed in `bad`. Throws
/// std::invalid_argument for --ood.
Evaluation report_by_pixel(const EvaluateRequest& request, const Model& model, const Examples& images,
                           std::vector<BadRow>& bad);

/// Returns the part of the report on single classes and on errors as text tables; "" for other reports than
/// those of segmentation.
std::string segmentation_text(const Evaluation& report);

}  // namespace slimbayes::cli
