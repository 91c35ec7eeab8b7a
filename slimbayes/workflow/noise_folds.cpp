// Estimates the noise of a small table by cross-fitting.
//
// Problem   A method takes its noise from the validation rows (dnn: the least of up to 299 mean squared
//           errors) or from the evidence of the training rows, and chooses its parameters by the same few
//           rows. Ten rows leave one for validation: the least of 299 squared errors of one row is nearly 0,
//           and 95 % intervals cover almost nothing.
// Method    The training and validation rows are dealt into K folds. For each fold, the same method with the
//           same options is fitted without the fold and predicts it. This gives residuals r_i of rows that
//           their fit has not seen, and the epistemic variances v_i of those predictions. The noise variance
//           d >= 0 maximises sum_i w_i log N(r_i; 0, v_i + d), the predictive likelihood of the rows left out
//           (Stone 1974; Geisser 1975). Every answer's aleatoric variance is then at least d. The noise that
//           the folds' fits estimate themselves is not used: with so few rows it varies from fit to fit and
//           says nothing about the noise of the main fit. The folds of rich-bll are fits of bll
//           (MethodInfo::noise_of): with the same noise, its variance is at least bll's.
// Few rows  d is itself an estimate, from the residuals of g groups of identical inputs. If d is all of the
//           variance and its prior is 1 / d, a new row follows a Student-t with g degrees of freedom, whose
//           variance is g / (g - 2) times the mean squared residual (Gelman et al., Bayesian Data Analysis,
//           section 3.2 with a known mean). So d is multiplied by g / (g - 2). For g = 10 a Gaussian of that
//           variance has its 95 % limit at 2.19 sd, t_10 at 2.23. The residuals of one group share the error
//           of the function, so g counts groups, and a row of a group of k rows has the weight w = 1 / k.
// Bias      A fold's fit has fewer rows than the model, so d tends to be too large, which is the safe side.
//           The scale of the inputs comes from all training rows of the model, held-out ones too; it uses no
//           targets. Tuned options were chosen with the validation rows.
// Cost      K more fits, hence only where the noise is in doubt: if fewer than 30 validation rows chose it,
//           or if more of them lie outside their intervals than chance explains, or if their NLL is no better
//           than a constant's (a fit can learn training rows with hardly any error and be sure of itself).
//           Elsewhere the model is the same as without folds.
#include "slimbayes/workflow/noise_folds.h"

#include <algorithm>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/workflow/noise_doubt.h"
#include "slimbayes/workflow/noise_series.h"

namespace slimbayes {

namespace {

/// Whether the method has the noise of another one, or another one has its noise (MethodInfo::noise_of). Both
/// take it from the errors on the validation rows. A doubt that only one of them meets would give them
/// different noises, and rich-bll's variance would no longer be at least bll's.
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
  check(folds.folds == 0 || folds.folds > 1, "fit_model", "0 or at least 2 noise folds",
        std::to_string(folds.folds), "5 is usual");
  const bool enough = std::max(validation_units(parts, folds.grouped), folds.known) >= kEnoughRows;
  const bool possible = folds.possible && folds.folds > 0 &&
                        parts.train.schema.task.kind == TaskKind::regression &&
                        parts.train.size() <= kMostRows;
  if (!possible) return without_folds(main, enough, parts, folds, context);
  NoiseSeries series(method, parts, folds, context);
  if (!series.possible()) return without_folds(main, enough, parts, folds, context);
  if (!enough || series.recorded()) return series.run(main);
  Tuned first = main(context);
  // A refit has learned the validation rows: they say nothing of its noise.
  const bool refitted = first.fitted->summary().rows > parts.train.size();
  if (first.interrupted() || refitted || shares_noise(method)) return {std::move(first), {}};
  std::string doubt = noise_doubt(std::get<Regression>(first.fitted->predict(parts.valid)), parts, folds);
  if (doubt.empty()) return {std::move(first), {}};
  return series.run_after(std::move(first), std::move(doubt));
}

}  // namespace slimbayes
