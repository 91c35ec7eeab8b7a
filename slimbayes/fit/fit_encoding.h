#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "slimbayes/data/input_encoder.h"
#include "slimbayes/fit/fit_data.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/method/method.h"

namespace slimbayes {

/// The encoded examples of a fit, as its method sees them, with the encoder.
struct EncodedExamples {
  SplitRows split;  // indices of the examples in each part; notes
  std::shared_ptr<const InputEncoder> encoder;
  Split parts;                    // encoded training and validation rows; `valid` may be empty
  at::Tensor probes, pixel_mean;  // as in ModelParts; undefined for other inputs
};

/// Returns separate validation data in the form that the encoder reads (examples_of), without those of weight
/// 0. Throws std::invalid_argument if FitOptions::weights names a column that they lack, and as row_weights.
Examples validation_examples(const Examples& given, const InputEncoder& encoder, const FitOptions& fit);

/// The third stage of a fit. Fits the encoder on the training examples and encodes the training and
/// validation examples. A fit that takes the network of an earlier model (ResolvedFit::network) takes that
/// model's encoder too. The result's notes are those of `split` and further ones on the data. Throws
/// std::invalid_argument if the method cannot do the task or the task cannot be calibrated, and DataError for
/// cells that cannot be encoded.
/// `progress` (may be empty) gets the share of the files that is read, where training rows are streamed.
EncodedExamples encode_examples(const ResolvedFit& request, const FitData& data, SplitRows split,
                                const std::function<void(double)>& progress = {});

}  // namespace slimbayes
