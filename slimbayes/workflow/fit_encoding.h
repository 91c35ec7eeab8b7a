#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "slimbayes/data/input_encoder.h"
#include "slimbayes/method/method.h"
#include "slimbayes/workflow/fit_data.h"
#include "slimbayes/workflow/resolved_fit.h"

namespace slimbayes {

/// The examples of a fit as its method sees them.
struct EncodedExamples {
  SplitRows split;  // parts of the examples, with notes
  std::shared_ptr<const InputEncoder> encoder;
  Split parts;                    // `valid` is empty without validation rows
  at::Tensor probes, pixel_mean;  // ModelParts
};

/// The third stage of a fit. Fits the encoder on the training examples, or takes the encoder of the network
/// at hand, and encodes the training and validation examples. Adds notes on the data to those of the split.
/// Throws std::invalid_argument if the method does not take the task or the task cannot be calibrated, and
/// DataError for cells that cannot be encoded.
EncodedExamples encode_examples(const ResolvedFit& request, const FitData& data, SplitRows split);

}  // namespace slimbayes
