#include "slimbayes/fit/noise_doubt.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/model/input_groups.h"

namespace slimbayes {

namespace {

/// Returns the mean and the sd of the targets as scalars, by the weights of the rows if there are some.
std::pair<at::Tensor, at::Tensor> mean_and_sd(const at::Tensor& y, const at::Tensor& weights) {
  if (!weights.defined()) return {y.mean(), y.std(/*unbiased=*/false)};
  const auto scalar = [](double x) { return at::full({}, x, at::kDouble); };
  return {scalar(weighted_mean(y, weights)), scalar(std::sqrt(weighted_var(y, weights)))};
}

}  // namespace

int64_t validation_units(const Split& parts, bool grouped) {
  const int64_t n = parts.valid.size();
  if (n > 0 && parts.valid.weights().defined()) {
    const std::vector<int64_t> group = input_groups(parts.valid, grouped);
    std::vector<int64_t> every(group.size());
    std::iota(every.begin(), every.end(), 0);
    const at::Tensor weights = group_weights(group, every) * parts.valid.weights();
    return static_cast<int64_t>(effective_rows(sums_by_group(group, every, weights), 0) + 1e-9);
  }
  return grouped && n > 0 ? std::get<0>(at::unique_dim(parts.valid.all().inputs.at(0), 0)).size(0) : n;
}

std::string few(const Split& parts, bool grouped, std::string_view noun) {
  const int64_t n = parts.valid.size(), units = validation_units(parts, grouped);
  if (n == 0) return fmt::format("no validation {}s", noun);
  if (units < n && parts.valid.weights().defined())
    return fmt::format("{} validation {}s whose weights are worth only {} equal ones", n, noun, units);
  if (units < n)
    return fmt::format("only {} among {} validation {}s", counted(units, "different input"), n, noun);
  return fmt::format("only {} validation {}{}", n, noun, n == 1 ? "" : "s");
}

std::string noise_doubt(const Regression& p, const Split& parts, const NoiseFolds& how) {
  constexpr double kLevel = 0.95, kUnlikely = 0.05;
  const Misses found = misses_of(p, parts.valid, kLevel, how.grouped);
  if (probability_of_misses(found.misses, found.rows, kLevel) < kUnlikely)
    return fmt::format("{} of {} {} lie outside their {:g} % intervals, more than chance explains",
                       found.misses, found.rows,
                       found.rows < parts.valid.size() ? "different inputs of the validation rows"
                                                       : fmt::format("validation {}s", how.noun),
                       100 * kLevel);
  const at::Tensor y = targets_of(parts.valid), weights = parts.valid.weights();
  const auto nll = [&](const Regression& answer) {
    return weighted_mean(regression_row_nll(answer, y), weights);
  };
  const auto [mean, sd] = mean_and_sd(y, weights);
  if (sd.item<double>() > 0 &&
      nll(p) >= nll({mean.expand_as(y), sd.square().expand_as(y), at::zeros_like(y)}))
    return fmt::format("on {} validation {}s the NLL is no better than that of one answer for every {}",
                       y.size(0), how.noun, how.noun);
  return "";
}

std::string few_rows_note(const Split& parts, const NoiseFolds& how) {
  const int64_t folds = how.folds;
  const std::string rests_on = few(parts, how.grouped, how.noun);
  if (parts.train.schema.task.kind != TaskKind::regression)
    return fmt::format("{}: the answers may be too sure; {}give more {}s", rests_on,
                       how.splits ? "raise `.valid_fraction`, or " : "", how.noun);
  if (!how.possible || (folds > 0 && parts.train.size() > kMostRows))
    return fmt::format("{}: the sd may be too small; {}give `.valid=FILE`, to have {}", rests_on,
                       how.splits ? "raise `.valid_fraction`, or " : "", kEnoughRows);
  if (folds > 0)
    return fmt::format("{}, and fewer than {} different inputs: the sd may be far too small; give more rows",
                       rests_on, kFewestGroups);
  return fmt::format("{}: the sd may be far too small; `.noise_folds=5` estimates it by cross-fitting",
                     rests_on);
}

}  // namespace slimbayes
