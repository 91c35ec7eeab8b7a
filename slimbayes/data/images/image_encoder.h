#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/images/images.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Data augmentation: how training images are varied at random. An image is shifted by up to `crop` pixels
/// along each axis; the uncovered edge is the reflected image. With `flip`, half of the images are mirrored
/// left to right. In segmentation the label map is moved in the same way.
struct Augmentation {
  int64_t crop = 0;  // pixels; 0: no shift
  bool flip = false;
};

/// Turns images into the inputs of a network: each channel is standardised or divided by a number, and each
/// label becomes the number of its class; for segmentation, each pixel's label does. It is fitted on the
/// training images and saved with the model.
class SLIMBAYES_EXPORT ImageEncoder {
 public:
  /// Fits the mean and sd of each channel and the classes. With a `divisor` above 0 the mean is 0 and the sd
  /// the divisor, so that pixels are divided by it. The classes of single labels are those that occur, those
  /// of label maps are Images::classes. Throws std::invalid_argument for no images, no labels, fewer than two
  /// classes, names of classes that are not one for each label and all different, and a divisor that is above
  /// 0 and below 1, or above 255.
  static ImageEncoder fit(const Images& training, double divisor = 0);

  /// Returns a dataset whose batches have inputs float32 [b, c, h, w] and, if `with_target` and the images
  /// have labels, the class number of each image or pixel. `augmentation` applies to training batches only
  /// (RowContext::training). Throws DataError for images of another size, and for a label that was not in
  /// training.
  Dataset dataset(const Images& images, bool with_target, const Augmentation& augmentation = {}) const;

  /// Returns the class number of each image, float64 [n], from 0 by ascending label of training; for
  /// segmentation that of each pixel or kVoid [n, h w]. The images must have labels. Single labels are found
  /// by the names of their classes, which are their numbers if they have no others. Throws DataError for a
  /// label that was not in training, and for label maps where training had single labels, or the other way
  /// round.
  at::Tensor target(const Images& images) const;

  const Schema& schema() const { return schema_; }

  /// Returns what the names of single labels are (Images::named); numeric without names.
  ColumnKind label_kind() const { return named_.value_or(ColumnKind::numeric); }

  nlohmann::json to_json() const;
  static ImageEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  /// Fills schema_ from size_ and the class names in schema_.task.
  void complete_schema(bool by_pixel);
  /// Throws DataError unless the labels of the images are of the kind and the classes that training had.
  void check_labels(const Images& images) const;
  /// Returns whether these are names of classes: none empty, no two the same.
  static bool are_class_names(std::vector<std::string> names);
  Schema schema_;
  std::optional<ColumnKind> named_;  // of single labels with names (Images::named)
  std::vector<int64_t> size_;        // c, h, w
  std::vector<double> mean_, sd_;    // [c], in pixel values from 0 to 255; sd is 1 for a constant channel
};

}  // namespace slimbayes
