// Estimates the noise of a small table by cross-fitting.
//
// Problem   A method takes its noise from the validation rows (dnn: the least mean squared error of up to 299
//           validations) or from the evidence of the training rows, and the same few rows choose its
//           parameters. With ten rows, one is for validation: the least of 299 squared errors of one row is
//           nearly 0, and 95 % intervals cover almost nothing.
// Method    The training and validation rows are divided into K folds. For each fold, the same method with
//           the same options is fitted without the fold and predicts it. This gives residuals r_i of rows
//           that the fit has not seen, and epistemic variances v_i of these predictions. The noise variance d
//           >= 0 maximises sum_i w_i log N(r_i; 0, v_i + d), the predictive likelihood of the held-out rows
//           (Stone 1974; Geisser 1975). The aleatoric variance of every answer is then at least d. The folds'
//           own estimates of the noise are not used: with so few rows they vary from fit to fit and do not
//           represent the noise of the main fit. The folds of rich-bll are fits of bll
//           (MethodInfo::noise_of): with the same noise, rich-bll's variance is at least bll's.
// Few rows  d is an estimate from the residuals of g groups of identical inputs. If d is the whole variance
//           and its prior density is 1 / d, a new row follows a Student-t with g degrees of freedom, whose
//           variance is g / (g - 2) times the mean squared residual (Gelman et al., Bayesian Data Analysis,
//           section 3.2 with a known mean). So d is multiplied by g / (g - 2). For g = 10 the 95 % limit of a
//           Gaussian with this variance is at 2.19 sd, that of t_10 at 2.23. The residuals of one group share
//           the error of the fitted mean. Therefore g counts groups, and a row in a group of k rows has the
//           weight w = 1 / k.
// Weights   A row that counts a times (Dataset::weights) has the weight a / k, and g is the effective number
//           of groups: (sum W)^2 / sum W^2 for the sum W of the weights in each group (Kish 1965). Few heavy
//           rows are few residuals.
// Bias      The fit of a fold has fewer rows than the model, so d tends to be too large, which is the safe
//           side. The scale of the inputs comes from all training rows of the model, including held-out
//           ones; it uses no targets. Tuned options were chosen with the validation rows.
// Cost      K more fits. Therefore cross-fitting is used only in three cases: if there are fewer than 30
//           validation rows; if more of them lie outside their intervals than chance explains; or if their
//           NLL is no better than that of one answer for all rows (a network can fit its training rows almost
//           exactly and then underestimate its errors). Otherwise the model is the same as without folds.
#include "slimbayes/fit/noise_folds.h"

#include <algorithm>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/fit/noise_doubt.h"
#include "slimbayes/fit/noise_series.h"

namespace slimbayes {

namespace {

/// Returns whether the method must have the same noise as another method with the same network, as bll and
/// rich-bll must (MethodInfo::noise_of). Both take it from the errors on the validation rows. If the noise
/// were cross-fitted because the answers of one of them contradict the validation rows, only that method
/// would get a new noise. Then rich-bll's variance would not always be at least bll's.
bool shares_noise(const MethodInfo& method) {
  return !method.noise_of.empty() || std::ranges::any_of(method_catalog(), [&](const MethodInfo& m) {
    return m.noise_of == method.name;
  });
}

CrossFitted without_folds(const std::function<Tuned(const FitContext&)>& main, bool enough,
                          const Split& parts, const NoiseFolds& folds, const FitContext& context) {
  CrossFitted fitted{main(context), {}};
  if (!enough) fitted.noise.notes.push_back(few_rows_note(parts, folds));
  return fitted;
}

}  // namespace

CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context) {
  if (!(folds.folds == 0 || folds.folds > 1))
    refuse("fit_model", "0 or at least 2 noise folds", std::to_string(folds.folds), "5 is usual");
  const bool enough = std::max(validation_units(parts, folds.grouped), folds.known) >= kEnoughRows;
  const bool possible = folds.possible && folds.folds > 0 &&
                        parts.train.schema.task.kind == TaskKind::regression &&
                        parts.train.size() <= kMostRows;
  if (!possible) return without_folds(main, enough, parts, folds, context);
  NoiseSeries series(method, parts, folds, context);
  if (!series.possible()) return without_folds(main, enough, parts, folds, context);
  if (!enough || series.recorded()) return series.run(main);
  Tuned first = main(context);
  // With the option `refit`, the method has learned the validation rows too, so their errors say nothing
  // about its noise.
  const bool refitted = first.fitted->summary().rows > parts.train.size();
  if (first.interrupted() || refitted || shares_noise(method)) return {std::move(first), {}};
  const auto answer = std::get<Regression>(first.fitted->predict(parts.valid, {.device = context.device}));
  std::string doubt = noise_doubt(answer, parts, folds);
  if (context.ranks != nullptr) doubt = gather_texts(*context.ranks, doubt)[0];
  if (doubt.empty()) return {std::move(first), {}};
  return series.run_after(std::move(first), std::move(doubt));
}

}  // namespace slimbayes
