// Concordance in O(n log n). Rows are visited from the last time to the first; a Fenwick tree over the sorted
// risks holds the weights of the rows that a row with an event at the present time is compared with.
#include "slimbayes/answers/censored/concordance.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Sums of weights over the first places of a list, which grow in O(log n) (Fenwick 1994).
class PrefixSums {
 public:
  explicit PrefixSums(size_t size) : sums_(size + 1) {}

  void add(size_t place, double weight) {
    for (size_t i = place + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += weight;
  }
  /// The sum over the places below `end`.
  double below(size_t end) const {
    double sum = 0;
    for (size_t i = end; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<double> sums_;
};

/// A row's place among the sorted risks, and the places of the risks tied with it: from `tied` below `above`.
struct RiskPlace {
  size_t own, tied, above;
};

std::vector<RiskPlace> risk_places(const double* risk, size_t n) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [risk](size_t i) { return risk[i]; });
  std::vector<RiskPlace> out(n);
  size_t tied = 0, above = 0;  // both only grow with the risk
  for (size_t k = 0; k < n; ++k) {
    const double own = risk[order[k]];
    while (own - risk[order[tied]] > kTiedRisk) ++tied;
    while (above < n && risk[order[above]] - own <= kTiedRisk) ++above;
    out[order[k]] = {k, tied, above};
  }
  return out;
}

/// Returns the concordance in which the pairs of a row with an event count `factor(row)` in the index.
template <class Factor>
Concordance counted(const SurvivalTimes& data, const at::Tensor& risk, const at::Tensor& weight,
                    const char* function, Factor factor) {
  const int64_t n = data.time.size(0);
  check_shape(risk, {n}, function, "risk");
  check_finite(risk, function, "risk");
  const at::Tensor score = risk.to(at::kCPU, at::kDouble).contiguous();
  const at::Tensor each =
      weight.defined() ? checked_weight(weight, n, function).contiguous() : at::ones({n}, at::kDouble);
  const double *time = data.time.const_data_ptr<double>(), *w = each.const_data_ptr<double>();
  const bool* event = data.event.const_data_ptr<bool>();
  const std::vector<RiskPlace> places = risk_places(score.const_data_ptr<double>(), static_cast<size_t>(n));
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [time](size_t i) { return time[i]; });
  PrefixSums later(places.size());
  double right = 0, pairs = 0;  // with the factors
  Concordance out;
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && time[order[end]] == time[order[first]]) ++end;
    double censored = 0;
    for (size_t k = first; k < end; ++k)
      if (!event[order[k]]) {
        later.add(places[order[k]].own, w[order[k]]);
        censored += w[order[k]];
      }
    for (size_t k = first; k < end; ++k) {
      const size_t i = order[k];
      if (!event[i]) continue;
      const double smaller = later.below(places[i].tied), to_above = later.below(places[i].above),
                   all = later.below(places.size()), f = w[i] * factor(i);
      out.concordant += w[i] * smaller;
      out.tied_risk += w[i] * (to_above - smaller);
      out.discordant += w[i] * (all - to_above);
      out.tied_time += w[i] * censored;
      right += f * (smaller + 0.5 * (to_above - smaller));
      pairs += f * all;
    }
    for (size_t k = first; k < end; ++k)
      if (event[order[k]]) later.add(places[order[k]].own, w[order[k]]);
  }
  check(pairs > 0, function, "a row with an event before the time of another row", "no comparable pair");
  out.index = right / pairs;
  return out;
}

}  // namespace

Concordance concordance(const SurvivalTimes& data, const at::Tensor& risk, const at::Tensor& weight) {
  return counted(checked_survival(data, "concordance"), risk, weight, "concordance",
                 [](size_t) { return 1.0; });
}

Concordance uno_concordance(const SurvivalTimes& training, const SurvivalTimes& data, const at::Tensor& risk,
                            std::optional<double> before, const at::Tensor& weight) {
  constexpr const char* kUno = "uno_concordance";
  const SurvivalCurve censoring = censoring_curve(training);
  const SurvivalTimes own = checked_survival(data, kUno);
  const double* time = own.time.const_data_ptr<double>();
  return counted(own, risk, weight, kUno, [&](size_t i) {
    if (before && !(time[i] < *before)) return 0.0;
    const double inverse = inverse_censoring(censoring, time[i], kUno);
    return inverse * inverse;
  });
}

}  // namespace slimbayes
