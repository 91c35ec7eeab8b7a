#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/censored/kaplan_meier.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

// Scores of predicted survival at given times for right-censored data of n rows. Rows that were censored
// before a time say nothing about it; the others are weighed by the inverse probability that they were not
// censored (IPCW), by the censoring curve G of `training`. G is taken at the time of an event as in
// scikit-survival, not just before it. A row of `weight` [n] w counts as w equal rows. All throw
// std::invalid_argument as checked_survival, for other shapes, unless the K > 0 times ascend, and where G is
// 0 or unknown at a time that counts (inverse_censoring).

/// Returns P(Y > t) of each row at each of these times [K], all finite. [n, K] float64
at::Tensor survival_probability(const Regression& p, const at::Tensor& times);

/// Returns the Brier score at each of the times [K] (Graf et al. 1999, Statistics in Medicine 18), the mean
/// of
///   S(t)^2 / G(time)      over rows with an event at time <= t,
///   (1 - S(t))^2 / G(t)   over rows with a later time,
/// and 0 over the others; survival [n, K] holds S(t), 0 to 1. Smaller is better; S = 1/2 for all has about
/// 1/4. [K] float64
at::Tensor survival_brier(const SurvivalTimes& training, const SurvivalTimes& data,
                          const at::Tensor& survival, const at::Tensor& times, const at::Tensor& weight = {});

/// Returns the integral of survival_brier between the first and the last of K > 1 times by the trapezoidal
/// rule, divided by the time between them.
double integrated_survival_brier(const SurvivalTimes& training, const SurvivalTimes& data,
                                 const at::Tensor& survival, const at::Tensor& times,
                                 const at::Tensor& weight = {});

/// How well a risk separates the rows with an event up to a time from those that live longer.
struct DynamicAuc {
  at::Tensor auc;   // [K] at each time
  double mean = 0;  // by the fall of the Kaplan-Meier curve of the scored data between the times
};

/// Returns the cumulative/dynamic AUC (Uno et al. 2007, Journal of the American Statistical Association 102;
/// mean: Lambert and Chevret 2014). At each time the cases are rows with an event up to then, each with the
/// weight 1 / G(time), and the controls are rows with a later time; ties of the risk count one half (equal
/// risks alone, no tolerance). risk [n] or [n, K], finite, larger for rows with an earlier event. The mean
/// gives the fall from 1 to the first time to the first AUC. Throws std::invalid_argument, too, if there is
/// no case or no control at a time, or the Kaplan-Meier curve does not fall up to the last time.
DynamicAuc dynamic_auc(const SurvivalTimes& training, const SurvivalTimes& data, const at::Tensor& risk,
                       const at::Tensor& times, const at::Tensor& weight = {});

}  // namespace slimbayes
