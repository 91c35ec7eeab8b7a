#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/table/limits.h"

namespace slimbayes {

/// Images of one size with their labels, as a file stores them.
struct Images {
  std::string source;  // path, for messages
  at::Tensor pixels;   // [n, c, h, w] uint8
  at::Tensor labels;   // [n] int64, at least 0; undefined if the images have no labels
};

/// The path of the label file that belongs to an IDX image file: the same path with "images" replaced by
/// "labels" and "idx3" by "idx1" in the file name; with .gz more or less if only that file exists.
std::filesystem::path labels_beside(const std::filesystem::path& images);

/// Returns image_format(path), for which a packed file is judged by its content too.
std::string format_of(const std::filesystem::path& path);

/// Reads images; a file whose name ends in .gz is decompressed first. Formats:
/// idx       greyscale images; labels are read from labels_beside(path) if that file exists
/// cifar10   records of one label byte and a 32 x 32 image, as planes of red, green and blue
/// cifar100  as cifar10, with one label byte or two (coarse, fine); of two, the fine label is used
/// Without `with_labels` no labels are read, neither from a label file nor from the records.
/// Throws std::invalid_argument for another format. Throws DataError for a file that is absent, damaged,
/// truncated or empty, whose labels exceed the format's classes, or whose numbers of labels and images
/// differ. `limits` bound what a .gz file may unpack to, with the errors of read_table.
Images read_images(const std::filesystem::path& path, std::string_view format, const TableLimits& limits = {},
                   bool with_labels = true);

/// Returns the images at these indices, in this order. Throws std::invalid_argument for an index out of
/// range.
Images take_images(const Images& images, const std::vector<int64_t>& rows);

}  // namespace slimbayes
