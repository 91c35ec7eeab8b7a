#include "slimbayes/methods/method.h"

#include <ATen/ATen.h>

namespace slimbayes {

Scores Fitted::ood(const Dataset& data) const {
  return {{"epistemic_sd", std::get<Regression>(predict(data)).epistemic_var.sqrt()}};
}

}  // namespace slimbayes
