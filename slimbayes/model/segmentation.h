#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

// Answers of a segmentation model. The pixels of all images may not fit in memory, so images are answered in
// blocks, and only sums, a line of a table for each image, or files are kept.

/// The answers to consecutive images of a larger set.
struct ImageBlock {
  int64_t first;    // index of the first image in the whole set
  Examples images;  // the images of the block
  Answers answers;  // to these images; indices count from the first
};

/// Answers the images block by block and calls each(block). Calls options.progress with the share of the
/// whole work.
void over_image_blocks(const Model& model, const Examples& images, const PredictOptions& options,
                       const std::function<void(const ImageBlock& block)>& each);

/// Returns the metrics of a segmentation (PixelTotals::report) with `n`, the number of answered images, and
/// `left_out` if some have no answer. These are listed in `bad`; if it is nullptr, throws DataError for
/// the first of them. Throws DataError or std::invalid_argument for images without labels, and if no pixel is
/// labelled.
Evaluation segmentation_report(const Model& model, const Examples& images, const PredictOptions& options = {},
                               std::vector<BadRow>* bad = nullptr);

/// Returns the same metrics from answers to all images.
Evaluation segmentation_report(const Model& model, const Examples& images, const Answers& answers);

/// A table with a line for each image, and the images that have no answer; their lines are empty.
struct ImageSummaries {
  Table table;
  std::vector<BadRow> bad;
};

/// Answers the images and returns a line for each: image (its number from 1), the means over its pixels of
/// entropy and mutual_information in nats, share_CLASS, the share of its pixels with this predicted class,
/// and, if the images have labels, accuracy over its labelled pixels (empty if there are none). With
/// `maps`, an existing folder, also writes the maps of each image there (write_maps).
ImageSummaries image_summaries(const Model& model, const Examples& images, const PredictOptions& options = {},
                               const std::filesystem::path& maps = {});

}  // namespace slimbayes
