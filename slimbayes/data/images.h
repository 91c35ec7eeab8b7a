#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/dataset.h"
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
/// Without `with_labels` no label is read: neither the file beside the images nor a record's own.
/// Throws std::invalid_argument for another format. Throws DataError for a file that is absent, damaged,
/// truncated or empty, whose labels exceed the format's classes, or whose numbers of labels and images
/// differ. `limits` bound what a .gz file may unpack to, with the errors of read_table.
Images read_images(const std::filesystem::path& path, std::string_view format, const TableLimits& limits = {},
                   bool with_labels = true);

/// Returns the images at these indices, in this order. Throws std::invalid_argument for an index out of
/// range.
Images take_images(const Images& images, const std::vector<int64_t>& rows);

/// How training images are varied at random: shifted by up to `crop` pixels along each axis (the uncovered
/// edge is black, 0 before scaling), and, with `flip`, mirrored left to right in half of the cases.
struct Augmentation {
  int64_t crop = 0;  // pixels; 0: no shift
  bool flip = false;
};

/// Turns images into numbers: each channel is standardised, and each label becomes the number of its class.
/// It is fitted on the training images and saved with the model.
class ImageEncoder {
 public:
  /// Throws std::invalid_argument for no images, no labels, or fewer than two classes.
  static ImageEncoder fit(const Images& training);

  /// Returns inputs float32 [b, c, h, w] and, if `with_target` and the images have labels, the number of each
  /// image's class. Throws DataError for images of another size, and for a label that was not in training.
  Dataset dataset(const Images& images, bool with_target, const Augmentation& augmentation = {}) const;

  /// Returns the number of each image's class, float64 [n]. The images must have labels. Throws DataError for
  /// a label that was not in training.
  at::Tensor target(const Images& images) const;

  const Schema& schema() const { return schema_; }

  nlohmann::json to_json() const;
  static ImageEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  Schema schema_;
  std::vector<int64_t> size_;      // c, h, w
  std::vector<double> mean_, sd_;  // [c], in pixel values from 0 to 255; sd is 1 for a constant channel
};

}  // namespace slimbayes
