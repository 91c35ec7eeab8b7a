#include "slimbayes/fit/noise_series.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/fit/noise_doubt.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/finished_fit.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/timed_part.h"
#include "slimbayes/model/input_groups.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/checkpoint_reader.h"

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr const char* kNoiseFolds = "noise folds";
constexpr const char* kResidual = "folds.residual";
constexpr const char* kVar = "folds.var";
constexpr const char* kWeight = "folds.weight";

/// Returns the entries of `given` that are options of the method. Use it if the folds are fitted by another
/// method than the main fit (MethodInfo::noise_of), which has other options.
json options_had(const MethodInfo& method, const json& given) {
  json own = json::object();
  for (const OptionDoc& doc : options_of(method, given))
    if (given.contains(doc.name)) own[doc.name] = given.at(doc.name);
  return own;
}

/// Returns the method's options for the fit of a fold, which has `rows` training rows instead of
/// `train_rows`. If the rank (the option with OptionDoc::at_most_rows) is at most `train_rows` but above
/// `rows`, lowers it to `rows`.
json fold_options(const MethodInfo& method, json options, int64_t train_rows, int64_t rows) {
  for (const OptionDoc& doc : options_of(method, options)) {
    if (!doc.at_most_rows || !options.contains(doc.name)) continue;
    json& rank = options[doc.name];
    if (rank.get<int64_t>() > rows && rank.get<int64_t>() <= train_rows) rank = rows;
  }
  return options;
}

/// Removes the tensor with this name from the record and returns it. Throws std::invalid_argument unless it
/// has one axis and finite float64 numbers.
at::Tensor taken_numbers(TensorFile& record, const char* name) {
  at::Tensor x = stored_tensor(record, name);
  check_shape(x, {-1}, kNoiseFolds, name);
  if (x.scalar_type() != at::kDouble)
    refuse(kNoiseFolds, fmt::format("float64 numbers in {}", name), "others");
  check_finite(x, kNoiseFolds, name);
  record.tensors.erase(name);
  return x;
}

}  // namespace

NoiseSeries::NoiseSeries(const MethodInfo& method, const Split& parts, const NoiseFolds& folds,
                         const FitContext& context)
    : method_(method),
      fold_method_(method.noise_of.empty() ? method : find_method(method.noise_of)),
      parts_(parts),
      context_(context),
      series_(context.checkpoint, kNoiseFolds, context.callback),
      all_(joined(parts.train, parts.valid)),
      group_(input_groups(all_, folds.grouped)),
      residual_(at::empty({0}, at::kDouble)),
      var_(residual_),
      weight_(residual_),
      why_(few(parts, folds.grouped)) {
  std::vector<int64_t> every(group_.size());
  std::iota(every.begin(), every.end(), 0);
  if (count_groups(group_, every) < kFewestGroups) return;
  const double share = static_cast<double>(parts.valid.size()) / static_cast<double>(all_.size());
  folds_ = deal_folds(group_, folds.folds, share, folds.deal);
}

CrossFitted NoiseSeries::run(const std::function<Tuned(const FitContext&)>& main) {
  const auto record = series_.start(std::ssize(folds_) + 1);
  bool resumed = false;
  if (record) read_contents(series_.name(), kCheckpointHint, [&] { resumed = resume(*record); });
  if (!resumed) {
    const TimedPart part(part_of(context_, context_.stream, series_.part(0)), folds_.size() + 1);
    main_ = main(part.context());
    if (main_.interrupted()) return {main_, unknown("the fit was interrupted before it was estimated", true)};
    save();
  }
  return run_folds();
}

CrossFitted NoiseSeries::run_after(Tuned main, std::string why) {
  main_ = std::move(main);
  why_ = std::move(why);
  remove_parts(context_.checkpoint.path);  // those of the main fit; the folds' have the same names
  save();
  return run_folds();
}

CrossFitted NoiseSeries::run_folds() {
  bool stopped = false;
  while (done_ < folds_.size() && !stopped && seconds_left(context_) > 0) stopped = !next();
  if (done_ < folds_.size() && !stopped)
    notes_.push_back(fmt::format("the time limit left out {} of the {} folds that estimate the noise",
                                 folds_.size() - done_, folds_.size()));
  return {main_, estimate(stopped)};
}

bool NoiseSeries::next() {
  if (context_.callback) {
    if (context_.callback->stop()) return false;
    context_.callback->stage(fmt::format("fold {}/{}", done_ + 1, folds_.size()));
  }
  const Fold& fold = folds_[done_];
  try {
    const auto fitted = fitted_without(fold);
    if (fitted->summary().stopped == Stopped::interrupted) return false;
    add_residuals(*fitted, fold);
  } catch (const NumericalError& error) {
    if (stopped()) return false;  // an interrupted fit may fail: nothing has chosen its parameters
    failed(error);
  } catch (const std::invalid_argument& error) {  // an option may fit the table but not a fold
    if (stopped()) return false;
    failed(error);
  }
  ++done_;
  save();
  return true;
}

std::unique_ptr<Fitted> NoiseSeries::fitted_without(const Fold& fold) const {
  const auto rows = std::ssize(fold.train);
  if (rows < 2) throw NumericalError("fewer than 2 rows are left to train on");
  const json options =
      options_had(fold_method_, fold_options(method_, main_.options, parts_.train.size(), rows));
  const std::unique_ptr<Method> method = registry_row(fold_method_.name).make(options);
  FitContext own = part_of(context_, context_.stream.split("noise fold").split(static_cast<uint64_t>(done_)),
                           series_.part(static_cast<int64_t>(done_) + 1));
  own.start = nullptr;  // a network at hand may have learned the rows that are held out
  const TimedPart part(std::move(own), folds_.size() - done_);
  return method->fit(
      {all_.subset(at::tensor(fold.train, at::kLong)), all_.subset(at::tensor(fold.valid, at::kLong))},
      part.context());
}

void NoiseSeries::add_residuals(const Fitted& fitted, const Fold& fold) {
  const Dataset held = all_.subset(at::tensor(fold.held, at::kLong));
  const auto p = std::get<Regression>(fitted.predict(held));
  const at::Tensor residual = targets_of(held) - p.mean, var = p.epistemic_var;
  if (!at::isfinite(residual + var).all().item<bool>()) throw NumericalError("an answer is not finite");
  residual_ = at::cat({residual_, residual});
  var_ = at::cat({var_, var});
  weight_ = at::cat({weight_, group_weights(group_, fold.held)});
  groups_ += count_groups(group_, fold.held);
  ++served_;
}

void NoiseSeries::failed(const std::exception& error) {
  notes_.push_back(fmt::format("fold {} of {} failed: {}", done_ + 1, folds_.size(), error.what()));
}

NoiseEstimate NoiseSeries::unknown(const std::string& why, bool stopped) const {
  NoiseEstimate noise{0, 0, 0, 0, stopped, notes_};
  noise.notes.push_back(fmt::format("{}: the sd may be far too small; {}", why_, why));
  return noise;
}

NoiseEstimate NoiseSeries::estimate(bool stopped) const {
  if (groups_ < kFewestGroups) return unknown("too few folds could be fitted to estimate it", stopped);
  NoiseEstimate noise{served_, residual_.size(0)};
  noise.interrupted = stopped;
  noise.notes = notes_;
  const double g = static_cast<double>(groups_);
  noise.var = noise_variance(residual_, var_, weight_) * g / (g - 2);
  noise.sd = std::sqrt(noise.var) * parts_.train.schema.task.y_scale;
  if (noise.var == 0)
    noise.notes.push_back(
        fmt::format("{}: {}-fold cross-fitting on {} rows found no noise beyond what the fits do not know: "
                    "the sd has no "
                    "lower bound",
                    why_, served_, noise.rows));
  else
    noise.notes.push_back(fmt::format(
        "{}: the noise was estimated by {}-fold cross-fitting on {} rows: an sd of at least {:.4g}{}{}", why_,
        served_, noise.rows, noise.sd, groups_ < kEnoughRows ? "; an estimate from so few rows is rough" : "",
        main_.report.is_null() ? "" : "; the tuned options saw the validation rows"));
  return noise;
}

bool NoiseSeries::resume(TensorFile record) {
  if (!record.metadata.contains("folds")) return false;
  const json kept = stored_json(record, "folds");
  const JsonReader read(kept, kNoiseFolds);
  const int64_t done = read.count("done", 0, std::ssize(folds_));
  if (std::to_string(done + 1) != record.metadata.at("done"))
    refuse(kNoiseFolds, "a record of " + record.metadata.at("done") + " fits", std::to_string(done + 1));
  done_ = static_cast<size_t>(done);
  served_ = read.count("served", 0, done);
  groups_ = read.count("groups", 0, std::ssize(group_));
  notes_ = read.texts("notes");
  why_ = read.text("why");
  residual_ = taken_numbers(record, kResidual);
  var_ = taken_numbers(record, kVar);
  weight_ = taken_numbers(record, kWeight);
  const int64_t rows = residual_.size(0);
  if (!(rows >= groups_ && rows <= all_.size() && (rows > 0) == (served_ > 0)))
    refuse(kNoiseFolds, fmt::format("{} to {} rows", groups_, all_.size()), std::to_string(rows));
  check_shape(var_, {rows}, kNoiseFolds, kVar);
  check_shape(weight_, {rows}, kNoiseFolds, kWeight);
  check((var_ >= 0).all().item<bool>() && (weight_ > 0).all().item<bool>(), kNoiseFolds,
        "variances from 0 and weights above 0", "others");
  if (!read.value("tuning").is_null()) check_tuning_report(read.value("tuning"));
  main_ = {method_.resolve(read.value("options")),
           finished_fit(registry_row(method_.name), record, parts_.train), read.value("tuning")};
  return true;
}

void NoiseSeries::save() const {
  TensorFile record = main_.fitted->save();
  record.tensors[kResidual] = to_stored(residual_);
  record.tensors[kVar] = to_stored(var_);
  record.tensors[kWeight] = to_stored(weight_);
  record.metadata["folds"] =
      json{{"done", done_}, {"served", served_},        {"groups", groups_},     {"notes", notes_},
           {"why", why_},   {"options", main_.options}, {"tuning", main_.report}}
          .dump();
  series_.keep(std::move(record), static_cast<int64_t>(done_) + 1);
}

}  // namespace slimbayes
