#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

// Segmentation is a classification whose rows are pixels: an image of height h and width w is h w rows, line
// by line. Its targets are class numbers and kVoid.

/// The target of a pixel without a class. Such a pixel is left out of the loss and of every score.
inline constexpr double kVoid = -1;

/// Returns numbers of images by pixel [n, k, h, w] as one row for each pixel [n h w, k]: image after image,
/// line after line. Numbers of rows [n, k] are returned as they are.
at::Tensor pixel_rows(const at::Tensor& x);

/// Outputs and targets of the rows that have a target.
struct Labelled {
  at::Tensor output;  // [m, k]
  at::Tensor y;       // [m]
};

/// Returns the labelled rows of a batch. For segmentation, with outputs [b, k, h, w] and targets [b, h w],
/// they are the pixels that are not void; there may be none. Otherwise they are all rows: outputs [b, k] and
/// targets [b] as they are.
Labelled labelled(const at::Tensor& output, const at::Tensor& target);

/// Returns the mean of the losses of some rows [m]; 0, with a gradient of 0, if there are none. []
at::Tensor mean_loss(const at::Tensor& losses);

}  // namespace slimbayes
