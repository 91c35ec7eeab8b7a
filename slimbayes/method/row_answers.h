#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/engine/feature_spec.h"
#include "slimbayes/engine/linear_head.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/laplace_posterior.h"
#include "slimbayes/method/predict_options.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {

/// Returns whether a row model can take the rows: all but sequences with padding, which it would take for
/// steps. Of texts it takes those of a TextEncoder (data/text/text_dataset.h), whose padding it knows.
bool are_rows(const Dataset& data);

/// Returns the answers of a row model (Fitted::row_model) to the rows of a dataset, several rows at the same
/// time on several threads. `input` is the shape of a row and `type` the type that the method computes its
/// inputs in. It computes on the CPU, whatever options.device. Requires are_rows(data). Throws
/// std::invalid_argument as predict_rows (method/batches.h).
Regression predict_by_rows(const engine::RowModel& model, const Dataset& data, const Shape& input,
                           at::ScalarType type, const PredictOptions& options, std::string_view function);

/// Returns the features of a network and an expansion (feature_plan) with these parameters, computed in
/// `type`, float32 or float64, as data. Empty if a plan does not know them.
std::optional<engine::FeatureSpec> feature_spec(const NetworkSpec& network, const std::string& basis,
                                                int64_t rank, const Network::Lookup& lookup,
                                                at::ScalarType type, engine::FeaturesOf of);

/// Returns the elements of a tensor as float64, row after row.
std::vector<double> numbers_of(const at::Tensor& tensor);

/// Returns the head that answers as mean() and epistemic_var() of the posterior (core/gaussian_linear.h)
/// with the noise sigma2, for its features phi. O(r^3).
engine::LinearHead head_of(const LinearPosterior& posterior);

/// Returns the covariance of a Laplace approximation as data, for `outputs` logits; the rest is left to the
/// caller.
engine::CorrelatedLogits logits_of(const LaplacePosterior& posterior, int64_t outputs);

/// Rewrites a head for the features (s h, t) as a head for h, where s and t are constants. If `head` has no
/// weight for t, its features were s h.
engine::LinearHead of_scaled_features(engine::LinearHead head, int64_t features, double s, double t);

}  // namespace slimbayes
