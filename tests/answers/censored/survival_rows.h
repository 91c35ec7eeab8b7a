#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "slimbayes/answers/censored/kaplan_meier.h"
#include "tests/core/row.h"

namespace slimbayes {

/// Right-censored rows with ties of times and risks, the same as those of rows() in
/// tests/answers/survival_reference.py.
struct SurvivalRows {
  SurvivalTimes data;
  at::Tensor risk, rate;  // [n]; P(T > t) = exp(-rate t) is a prediction
};

inline SurvivalRows survival_rows(int64_t n, int64_t a, int64_t b, int64_t c) {
  const at::Tensor i = at::arange(n);
  const at::Tensor time = 1 + 0.5 * (i * a).remainder(b).to(at::kDouble);
  return {{time, (i * 7).remainder(c) < 3},
          0.25 * (i * 11).remainder(17).to(at::kDouble) - 0.125 * time,
          0.02 + 0.01 * (i * 13).remainder(7).to(at::kDouble)};
}
inline SurvivalRows scored_rows() { return survival_rows(60, 37, 29, 5); }
inline SurvivalRows censoring_rows() { return survival_rows(50, 31, 33, 4); }
inline at::Tensor scored_times() { return row({2, 4.25, 6, 8.5, 11}); }

/// Weights of 1 to 3, and the indices of the rows repeated as often.
inline std::pair<at::Tensor, at::Tensor> repeats(int64_t n) {
  const at::Tensor weight = 1 + at::arange(n).remainder(3);
  return {weight.to(at::kDouble), at::arange(n).repeat_interleave(weight)};
}
inline SurvivalTimes copied_rows(const SurvivalTimes& data, const at::Tensor& rows) {
  return {data.time.index_select(0, rows), data.event.index_select(0, rows)};
}

/// The largest distance between two tensors of one shape.
inline double farthest(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace slimbayes
