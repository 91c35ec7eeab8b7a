#include "slimbayes/fit/noise_doubt.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/model/input_groups.h"

namespace slimbayes {

int64_t validation_units(const Split& parts, bool grouped) {
  const int64_t n = parts.valid.size();
  return grouped && n > 0 ? std::get<0>(at::unique_dim(parts.valid.all().inputs.at(0), 0)).size(0) : n;
}

std::string few(const Split& parts, bool grouped, std::string_view noun) {
  const int64_t n = parts.valid.size(), units = validation_units(parts, grouped);
  if (n == 0) return fmt::format("no validation {}s", noun);
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
  const at::Tensor y = targets_of(parts.valid);
  const at::Tensor weight = parts.valid.weights();
  const at::Tensor mean = weight.defined() ? at::full({}, weighted_mean(y, weight), at::kDouble) : y.mean(),
                   sd = weight.defined()
                            ? at::full({}, weighted_mean((y - mean).square(), weight), at::kDouble).sqrt()
                            : y.std(/*unbiased=*/false);
  if (sd.item<double>() > 0 &&
      regression_nll(p, y, weight) >=
          regression_nll({mean.expand_as(y), sd.square().expand_as(y), at::zeros_like(y)}, y, weight))
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
