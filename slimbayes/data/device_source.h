#pragma once

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Returns the dataset with its batches on this device: inputs, targets, masks and weights. Weights and
/// lengths of all rows (Source::weights, Source::lengths) stay on the CPU, where batches are planned, and so
/// do the indices of a batch. Rows that are tensors in memory are moved once if they take at most
/// kRowsOnDevice bytes; others batch by batch. An empty dataset, and one that is there already, is returned
/// as it is.
Dataset on_device(const Dataset& data, at::Device device);

/// The most bytes of rows that on_device() keeps on the device: beside it the memory is a network's.
inline constexpr int64_t kRowsOnDevice = int64_t{1} << 30;

}  // namespace slimbayes
