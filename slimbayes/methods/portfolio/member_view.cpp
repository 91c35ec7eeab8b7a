#include "slimbayes/methods/portfolio/member_view.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/row_weights.h"

namespace slimbayes {

namespace {

constexpr const char *kShift = "view.input_shift", *kScale = "view.input_scale", *kTarget = "view.target";

/// The logarithm of the encoded target above the view's range. [n]
at::Tensor log_of(const MemberView& view, const at::Tensor& y) {
  return ((y.to(at::kDouble) - view.low) / view.unit).log();
}

/// The targets in the user's units. What rounding made of the user's 0 is 0. [n] float64
at::Tensor in_user_units(const Dataset& rows) {
  const Task& task = rows.schema.task;
  const at::Tensor user = decoded_target(task, targets_of(rows).to(at::kDouble));
  const double rounding = 1e-6 * (std::abs(task.y_shift) + task.y_scale);  // encoded targets may be float32
  return at::where(user.abs() < rounding, 0.0, user);
}

void fit_log(const Dataset& rows, MemberView& view) {
  check(allows_log_target(rows), "auto", "a target without negative values, for its logarithm",
        "a negative one");
  const Task& task = rows.schema.task;
  const at::Tensor y = targets_of(rows).to(at::kDouble), user = in_user_units(rows), weights = rows.weights();
  view.unit = 1 / task.y_scale;
  view.low = -task.y_shift / task.y_scale;  // the user's 0
  if (user.min().item<double>() == 0) {
    const at::Tensor positive = user.masked_select(user > 0),
                     own = weights.defined() ? weights.masked_select(user > 0) : weights;
    const double least = positive.min().item<double>(), middle = weighted_median(positive, own);
    view.low -= view.unit * std::max(0.5 * least, 0.01 * middle);
  }
  view.warp = TargetWarp::log;
  const at::Tensor t = log_of(view, y), above = (t - weighted_median(t, weights)).clamp_min(0);
  view.log_mean = weighted_mean(t, weights);
  const double sd =
      weights.defined() ? std::sqrt(weighted_var(t, weights)) : t.std(/*unbiased=*/false).item<double>();
  view.log_sd = sd > 0 ? sd : 1;
  view.seen_low = (t.min().item<double>() - view.log_mean) / view.log_sd;
  view.seen_high = (t.max().item<double>() - view.log_mean) / view.log_sd;
  view.spare_sd = std::clamp(std::sqrt(2 * weighted_mean(above.square(), weights)) / view.log_sd, 0.1, 1.0);
}

}  // namespace

bool allows_log_target(const Dataset& rows) {
  const Task& task = rows.schema.task;
  if (task.kind != TaskKind::regression || task.bounds || rows.size() == 0) return false;
  const at::Tensor user = in_user_units(rows);
  return user.min().item<double>() >= 0 && user.max().item<double>() > 0;
}

MemberView fitted_view(const Dataset& rows, bool min_max, TargetWarp warp) {
  MemberView view;
  if (warp == TargetWarp::log) fit_log(rows, view);
  if (!min_max || !rows.schema.input.is_vector()) return view;
  const at::Tensor x = rows.all().inputs.at(0).to(at::kDouble);
  const at::Tensor low = x.amin(0), high = x.amax(0);
  view.input_shift = 0.5 * (low + high);
  view.input_scale = at::where(high > low, 0.5 * (high - low), 1.0);
  return view;
}

Dataset rows_in_view(const MemberView& view, const Dataset& rows) {
  if (rows.source == nullptr || (!view.input_shift.defined() && view.warp == TargetWarp::none)) return rows;
  Batch all = rows.all();
  if (view.input_shift.defined()) {
    const at::Tensor x = all.inputs.at(0);
    check_shape(x, {-1, view.input_shift.size(0)}, "predict", "inputs");
    all.inputs[0] = ((x.to(at::kDouble) - view.input_shift) / view.input_scale).to(x.scalar_type());
  }
  Schema schema = rows.schema;
  if (view.warp == TargetWarp::log) {
    if (all.target.defined())
      all.target = ((log_of(view, all.target) - view.log_mean) / view.log_sd).to(all.target.scalar_type());
    schema.task.encoded_sd = 1;
  }
  return dataset_of(schema, std::move(all));
}

Predictive answer_in_target_units(const MemberView& view, const Predictive& p) {
  if (view.warp == TargetWarp::none) return p;
  const auto* r = std::get_if<Regression>(&p);
  check(r != nullptr && r->density.empty(), "auto", "a Gaussian answer to a log target", "another");
  const double width = std::max(view.seen_high - view.seen_low, 1.0);
  const at::Tensor shrunk = (width * width / total_var(*r)).clamp_max(1) * view.log_sd * view.log_sd;
  const at::Tensor mean = r->mean.clamp(view.seen_low - width, view.seen_high + 2 * view.spare_sd);
  DensityComponent c{1, view.log_mean + view.log_sd * mean, shrunk * r->aleatoric_var,
                     shrunk * r->epistemic_var};
  c.warp = TargetWarp::log;
  c.shift = view.low;
  c.scale = view.unit;
  c.most_var = std::pow(width * view.log_sd, 2);
  c.most = view.log_mean + view.log_sd * view.seen_high;
  c.spare_var = std::pow(view.spare_sd * view.log_sd, 2);
  Regression out = mixed({std::move(c)});
  out.zeroed = r->zeroed;
  return out;
}

void store_view(const MemberView& view, TensorFile& file) {
  if (view.input_shift.defined()) {
    file.tensors[kShift] = to_stored(view.input_shift);
    file.tensors[kScale] = to_stored(view.input_scale);
  }
  if (view.warp == TargetWarp::log)
    file.tensors[kTarget] = to_stored(at::tensor(
        {view.low, view.unit, view.log_mean, view.log_sd, view.seen_low, view.seen_high, view.spare_sd},
        at::kDouble));
}

MemberView stored_view(const TensorFile& file) {
  MemberView view;
  if (file.tensors.contains(kShift)) {
    view.input_shift = stored_tensor(file, kShift).to(at::kDouble);
    view.input_scale = stored_tensor(file, kScale).to(at::kDouble);
    check_shape(view.input_shift, {-1}, "load", kShift);
    check_shape(view.input_scale, view.input_shift.sizes(), "load", kScale);
    check_finite(view.input_shift, "load", kShift);
    check((view.input_scale > 0).all().item<bool>(), "load", "scales above 0", "others");
  }
  if (!file.tensors.contains(kTarget)) return view;
  const at::Tensor target = stored_tensor(file, kTarget).to(at::kDouble);
  check_shape(target, {7}, "load", kTarget);
  check_finite(target, "load", kTarget);
  view.warp = TargetWarp::log;
  view.low = target[0].item<double>();
  view.unit = target[1].item<double>();
  view.log_mean = target[2].item<double>();
  view.log_sd = target[3].item<double>();
  view.seen_low = target[4].item<double>();
  view.seen_high = target[5].item<double>();
  view.spare_sd = target[6].item<double>();
  check(view.unit > 0 && view.log_sd > 0 && view.seen_low <= view.seen_high && view.spare_sd > 0, "load",
        "scales above 0 and a range", "others");
  return view;
}

}  // namespace slimbayes
