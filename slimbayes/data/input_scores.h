#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns out-of-distribution scores of the examples that depend on the inputs alone. They are the same for
/// every method, and so are a baseline for the methods' own scores. [n] each, float64; larger means farther
/// from the training data.
/// distance  the root mean square of (x - training mean) / training sd, over the numeric columns of a row
///           (encoding/outside.h), over those of all rows of a window, or over the pixels of an image (with
///           the mean of each pixel and the sd of its channel)
/// outside   for tables and windows: how far the inputs lie beyond the training range, in half-ranges; the
///           largest value over the columns
/// For images, `pixel_mean` is the result of pixel_mean() for the training images; other inputs do not use
/// it. Texts, events and tables without numeric columns have no score: the map is empty. Throws
/// std::invalid_argument for a missing column.
Scores input_scores(const InputEncoder& encoder, const Examples& examples, const at::Tensor& pixel_mean);

/// Returns the mean of each pixel over these images as they are encoded (standardised), without augmentation.
/// Float64 [c, h, w].
at::Tensor pixel_mean(const Dataset& images);

}  // namespace slimbayes
