#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/predictive.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns out-of-distribution scores that depend on the inputs alone. Use them to compare methods, because
/// they are the same for every method. [n] each, float64; larger means farther from the training data.
/// distance  the root mean square of (x - training mean) / training sd, over the columns of numbers of a row
///           (data/outside.h), over the columns of all rows of a window, or over the pixels of an image (with
///           the mean of each pixel and the sd of its channel)
/// outside   for tables and windows: how far the inputs lie beyond the training range, in half-ranges; the
///           largest over the columns
/// `pixel_mean` is pixel_mean() of the training images; other inputs do not use it. Texts, events and tables
/// without numbers have no score. Throws std::invalid_argument for a missing column.
Scores input_scores(const InputEncoder& encoder, const Examples& examples, const at::Tensor& pixel_mean);

/// Returns the mean of the encoded images, without augmentation. Float64, in the shape of one image.
at::Tensor pixel_mean(const Dataset& images);

}  // namespace slimbayes
