#include "slimbayes/methods/method.h"

#include <ATen/ATen.h>

namespace slimbayes {

namespace {

Scores scores(const Regression& p) { return {{"epistemic_sd", p.epistemic_var.sqrt()}}; }

Scores scores(const Classes& p) {
  return {{"mutual_information", mutual_information(p)},
          {"entropy", p.predictive_entropy},
          {"uncertain", 1 - std::get<0>(p.probabilities.max(-1))}};
}

Scores scores(const Counts& p) { return {{"log_rate_sd", p.rate.log_var.sqrt()}}; }

Scores scores(const Intensity& p) { return {{"log_rate_sd", p.rate.log_var.sqrt()}}; }

}  // namespace

Scores Fitted::ood(const Dataset& data) const {
  return std::visit([](const auto& answer) { return scores(answer); }, predict(data));
}

}  // namespace slimbayes
