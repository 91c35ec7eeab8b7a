#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Images of equal size with their labels, as read from a file. An image has one label or, for segmentation,
/// a label map.
struct Images {
  std::string source;  // path, for messages
  at::Tensor pixels;   // [n, c, h, w] uint8
  /// [n] int64, at least 0. Of segmentation [n, h, w] uint8: the number of the class of each pixel, and as
  /// many as there are classes for a pixel without a class (void). Undefined if the images have no labels.
  at::Tensor labels;
  /// The name of the class of each label, from 0 on. Segmentation always has names; without them the numbers
  /// are the names.
  std::vector<std::string> classes = {};
  ColumnKind named = ColumnKind::categorical;  // what the names are: texts, numbers or booleans
};

/// Returns InputKind::segmentation for images with label maps, else InputKind::images.
SLIMBAYES_EXPORT InputKind kind_of(const Images& images);

/// Returns the path of the label file that belongs to an IDX image file: in the file name, "images" becomes
/// "labels" and "idx3" becomes "idx1". If no such file exists but one with .gz added (or removed) does, that
/// path is returned. Returns `images` itself if the name contains neither word.
SLIMBAYES_EXPORT std::filesystem::path labels_beside(const std::filesystem::path& images);

/// Returns the format of a file of images, "idx" or "camvid", or "" for any other file, by the name and the
/// first bytes (image_format, begins_as_camvid), which are unpacked if the file is. CIFAR's records are not
/// recognised.
SLIMBAYES_EXPORT std::string format_of(const std::filesystem::path& path);

/// Reads a file of images in one of these formats. A file whose name ends in .gz is decompressed first.
/// idx       greyscale images; labels are read from labels_beside(path) if that file exists
/// cifar10   records of one label byte and a 32 x 32 image, as planes of red, green and blue
/// cifar100  as cifar10, but records may begin with two label bytes (coarse, fine): the fine one is used
/// camvid    records of a 96 x 128 label map and the planes of its image (data/table/camvid.h)
/// Unless `with_labels`, no labels are read. Throws std::invalid_argument for another format. Throws
/// DataError for a file that is absent, damaged, truncated or empty, whose labels exceed the format's
/// classes, or whose label file has another number of entries. `limits` bound the memory that a .gz file may
/// unpack to; a larger one throws as read_table does.
SLIMBAYES_EXPORT Images read_images(const std::filesystem::path& path, std::string_view format,
                                    const TableLimits& limits = {}, bool with_labels = true);

/// Returns the images with these indices, in this order, with their labels. Throws std::invalid_argument for
/// an index out of range.
SLIMBAYES_EXPORT Images take_images(const Images& images, const std::vector<int64_t>& rows);

}  // namespace slimbayes
