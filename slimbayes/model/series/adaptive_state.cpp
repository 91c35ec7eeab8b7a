// The state of adaptive intervals in a model of windows: what it learns from targets, and its place in the
// model file. answers/calibration/adaptive_conformal.h has the mathematics.
#include "slimbayes/model/series/adaptive_state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"

namespace slimbayes {

namespace {

constexpr const char* kAdaptiveScores = "adaptive.scores";  // in the file of an adaptive model only
constexpr const char* kDamagedState = "the model file is damaged";

/// Returns the scores of the answers to these windows, in the order of time. [m]
std::vector<double> ordered_scores(const Model& model, const Examples& answered, const Regression& p) {
  if (!std::holds_alternative<WindowTable>(answered))
    refuse("update", "windows of a series for adaptive intervals", noun_of(answered));
  const auto& w = std::get<WindowTable>(answered);
  const at::Tensor scores = unsorted_scores(p, target_as_given(model.encoder(), answered)).contiguous();
  const std::vector<double> times = w.windows->forecast_times(w.windows->options);
  std::vector<int64_t> order(w.selected.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, {}, [&](int64_t i) { return times[static_cast<size_t>(w.selected[static_cast<size_t>(i)])]; });
  std::vector<double> sorted;
  for (const int64_t i : order) sorted.push_back(scores.const_data_ptr<double>()[i]);
  return sorted;
}

}  // namespace

bool learns_rows(const Model& model) {
  return model.fitted().exact_posterior() != nullptr && find_method(model.method()).updates;
}

std::vector<double> scores_in_time(const Model& model, const Examples& windows) {
  const Answers a = model.answers(windows);
  return ordered_scores(model, a.bad.empty() ? windows : take(windows, a.rows),
                        std::get<Regression>(a.answer));
}

std::optional<double> coverage_online(const Model& model, const Examples& answered, const Predictive& answer,
                                      double level) {
  if (!model.parts().adaptive) return std::nullopt;
  return online_coverage(*model.parts().adaptive,
                         ordered_scores(model, answered, std::get<Regression>(answer)), level);
}

void store_adaptive(const AdaptiveScores& state, nlohmann::json& facts, TensorFile& file) {
  facts["method"] = "adaptive";
  facts["seen"] = state.seen;
  facts["kept"] = state.scores.size();
  file.tensors[kAdaptiveScores] = to_stored(at::tensor(state.scores, at::kDouble));
}

std::optional<AdaptiveScores> take_adaptive(TensorFile& file) {
  if (!file.tensors.contains(kAdaptiveScores)) return std::nullopt;
  const at::Tensor scores = stored_tensor(file, kAdaptiveScores).to(at::kDouble).contiguous();
  file.tensors.erase(kAdaptiveScores);
  check_shape(scores, {-1}, "load", kAdaptiveScores);
  const nlohmann::json facts = stored_json(file, "calibration");
  const nlohmann::json seen = facts.is_object() ? facts.value("seen", nlohmann::json()) : nlohmann::json();
  const bool sane = scores.numel() > 0 && scores.numel() <= AdaptiveScores::kMost &&
                    scores.isfinite().all().item<bool>() && (scores >= 0).all().item<bool>() &&
                    (scores <= kUncoverable).all().item<bool>() && seen.is_number_unsigned() &&
                    seen.get<uint64_t>() >= static_cast<uint64_t>(scores.numel()) &&
                    seen.get<uint64_t>() < uint64_t{1} << 62;
  check(sane, "load", "scores of adaptive intervals, from 0, and their number", "others", kDamagedState);
  AdaptiveScores state;
  const auto* first = scores.const_data_ptr<double>();
  state.scores.assign(first, first + scores.numel());
  state.seen = seen.get<int64_t>();
  return state;
}

}  // namespace slimbayes
