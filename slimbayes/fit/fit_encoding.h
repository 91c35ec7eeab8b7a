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

/// The weights of the examples that a fit encodes, divided by weight_scale().
struct WeightsOfFit {
  at::Tensor of_examples;  // [n] float64; undefined: each counts once
  double scale = 1;
};

/// Returns the weights of the examples, of which those at `train` are trained on. Throws as row_weights.
WeightsOfFit weights_of_fit(const Examples& examples, const std::vector<int64_t>& train,
                            const FitOptions& fit);

/// Returns weights [n] as the encoder takes them: none if those of the training examples are all 1.
std::vector<double> weights_that_differ(const at::Tensor& weights, const std::vector<int64_t>& train);

/// Returns separate validation data in the form that the encoder reads (examples_of), without those of weight
/// 0. Throws std::invalid_argument if FitOptions::weights names a column that they lack, and as row_weights.
Examples validation_examples(const Examples& given, const InputEncoder& encoder, const FitOptions& fit);

/// The third stage of a fit. Fits the encoder on the training examples and encodes the training and
/// validation examples. A fit that takes the network of an earlier model (ResolvedFit::network) takes that
/// model's encoder too, and one that is given a network (ResolvedFit::given) takes the encoder beside it. The
/// result's notes are those of `split` and further ones on the data. Throws
/// std::invalid_argument if the method cannot do the task or the task cannot be calibrated, and DataError for
/// cells that cannot be encoded.
/// `progress` (may be empty) gets the share of the files that is read, where training rows are streamed.
EncodedExamples encode_examples(const ResolvedFit& request, const FitData& data, SplitRows split,
                                const std::function<void(double)>& progress = {});

}  // namespace slimbayes
