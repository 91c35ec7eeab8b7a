#include "slimbayes/model/model_weights.h"

#include <ATen/ATen.h>

#include "slimbayes/data/fit_examples.h"

namespace slimbayes {

at::Tensor answered_weights(const Model& model, const Examples& examples, const Answers& answers) {
  const at::Tensor weight = scored_weights(examples, model.fit_options());
  if (!weight.defined() || answers.bad.empty()) return weight;
  return weight.index_select(0, at::tensor(answers.rows, at::kLong));
}

ConformalWeight conformal_weight_of(const FitOptions& fit, bool grouped) {
  if (fit.weights_are != "counts") return ConformalWeight::importance;
  return grouped ? ConformalWeight::counts : ConformalWeight::counts_of_rows;
}

}  // namespace slimbayes
