#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/predictive.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns out-of-distribution scores that depend on the inputs alone, and so mean the same for every method.
/// [n] each, float64; larger is farther.
/// distance  the root mean square of (x - training mean) / training sd: over the columns of numbers of a row
///           (data/outside.h), over those of all rows of a window, over the pixels of an image, whose mean is
///           that of each pixel and whose sd that of its channel
/// outside   tables and windows: half-ranges beyond the training range, the largest over the columns
/// `pixel_mean` is pixel_mean() of the training images; if it is undefined, images have no score. Texts,
/// events and tables without numbers have none either. Throws std::invalid_argument for a missing column.
Scores input_scores(const InputEncoder& encoder, const Examples& examples, const at::Tensor& pixel_mean);

/// Returns the mean of the encoded images, without augmentation. Float64, in the shape of one image.
at::Tensor pixel_mean(const Dataset& images);

}  // namespace slimbayes
