#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table_limits.h"

namespace slimbayes {

/// Images of one size with their labels, as a file holds them.
struct Images {
  std::string source;  // path, for messages
  at::Tensor pixels;   // [n, c, h, w] uint8
  at::Tensor labels;   // [n] int64, at least 0; undefined where there are none
};

/// The path of the label file that belongs to an IDX image file: the same path with "images" replaced by
/// "labels" and "idx3" by "idx1" in the file name.
std::filesystem::path labels_beside(const std::filesystem::path& images);

/// Reads images; a file whose name ends in .gz is decompressed first. Formats:
/// idx       greyscale images; labels are read from labels_beside(path) if that file exists
/// cifar10   records of one label byte and a 32 x 32 image, as planes of red, green and blue
/// cifar100  as cifar10, with one label byte or two (coarse, fine); of two, the fine label is used
/// Throws std::invalid_argument for another format; DataError for a file that is absent, damaged, truncated
/// or empty, or whose numbers of labels and images differ; and, for a file that exceeds `limits`, the errors
/// of read_table.
Images read_images(const std::filesystem::path& path, std::string_view format,
                   const TableLimits& limits = {});

/// These images, in this order. Throws std::invalid_argument for an index outside.
Images take_images(const Images& images, const std::vector<int64_t>& rows);

/// How training images are varied: shifted by up to `crop` pixels in both directions (the edge filled with 0,
/// black, before scaling), and mirrored left to right in half of the cases.
struct Augmentation {
  int64_t crop = 0;
  bool flip = false;
};

/// From pixels to numbers, fitted on the training images and saved with the model: each channel is
/// standardised, each label is the number of its class.
class ImageEncoder {
 public:
  /// Throws std::invalid_argument for no images, and without two classes of labels.
  static ImageEncoder fit(const Images& training);

  /// inputs float32 [b, c, h, w]; the target, where the images have labels and `with_target`, a class's
  /// number. Throws DataError for images of another size, and for a label that was not there in training.
  Dataset dataset(const Images& images, bool with_target, const Augmentation& augmentation = {}) const;

  /// The number of each image's class, float64. [n] The images have labels. Throws DataError for one that was
  /// not there in training.
  at::Tensor target(const Images& images) const;

  const Schema& schema() const { return schema_; }

  nlohmann::json to_json() const;
  static ImageEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  Schema schema_;
  std::vector<int64_t> size_;      // c, h, w
  std::vector<double> mean_, sd_;  // [c], of pixels from 0 to 255; sd 1 for a constant channel
};

}  // namespace slimbayes
