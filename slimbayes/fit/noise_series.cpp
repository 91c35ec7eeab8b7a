#include "slimbayes/fit/noise_series.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/fit/noise_doubt.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/finished_fit.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/method/timed_part.h"
#include "slimbayes/model/input_groups.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/failure.h"
#include "slimbayes/train/job_files.h"
#include "slimbayes/train/job_ranks.h"

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr const char* kNoiseFolds = "noise folds";
constexpr const char* kMain = "main fit";  // metadata key of the file of job 0
constexpr const char *kResidual = "folds.residual", *kVar = "folds.var", *kWeight = "folds.weight";

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

/// Returns the tensor with this name. Throws std::invalid_argument unless it
/// has one axis and finite float64 numbers.
at::Tensor stored_numbers(const TensorFile& record, const char* name) {
  at::Tensor x = stored_tensor(record, name);
  check_shape(x, {-1}, kNoiseFolds, name);
  if (x.scalar_type() != at::kDouble)
    refuse(kNoiseFolds, fmt::format("float64 numbers in {}", name), "others");
  check_finite(x, kNoiseFolds, name);
  return x;
}

}  // namespace

NoiseSeries::NoiseSeries(const MethodInfo& method, const Split& parts, const NoiseFolds& folds,
                         const FitContext& context)
    : method_(method),
      fold_method_(method.noise_of.empty() ? method : find_method(method.noise_of)),
      parts_(parts),
      context_(
          within_memory(context, parts.train, {{fold_method_.name, fold_method_.resolve(json::object())}})),
      all_(joined(parts.train, parts.valid)),
      group_(input_groups(all_, folds.grouped)),
      options_(folds.options),
      residual_(at::empty({0}, at::kDouble)),
      var_(residual_),
      weight_(residual_),
      group_sums_(residual_),
      why_(few(parts, folds.grouped)) {
  std::vector<int64_t> every(group_.size());
  std::iota(every.begin(), every.end(), 0);
  if (count_groups(group_, every) < kFewestGroups) return;
  const double share = static_cast<double>(parts.valid.size()) / static_cast<double>(all_.size());
  folds_ = deal_folds(group_, folds.folds, share, folds.deal);
}

bool NoiseSeries::recorded() const { return is_record(context_.checkpoint, kNoiseFolds, context_.ranks); }

Jobs<NoiseSeries::Part> NoiseSeries::jobs(const std::function<Tuned(const FitContext&)>& main) const {
  const auto title = [this](size_t job) {
    if (job == 0) return std::string(context_.workers > 1 ? "main fit" : "");
    return fmt::format("fold {}/{}", job, folds_.size());
  };
  const auto run = [this, main](size_t job, const JobContext& of) -> Part {
    if (job > 0) return {{}, "", without(job - 1, of)};
    const TimedPart part(part_of(context_, context_.stream, of), 1 + time_shares(folds_.size(), of.beside));
    return {main(part.context()), why_, {}};
  };
  const auto save = [](const Part& part) {
    if (part.main.fitted) {
      TensorFile file = part.main.fitted->save();
      file.metadata[kMain] = json{
          {"options", part.main.options},
          {"tuning", part.main.report ? fields_to_json(*part.main.report) : json()},
          {"why", part.why}}.dump();
      return file;
    }
    TensorFile file;
    file.tensors[kResidual] = to_stored(part.held.residual);
    file.tensors[kVar] = to_stored(part.held.var);
    file.tensors[kWeight] = to_stored(part.held.weight);
    return file;
  };
  const auto whole = [](const Part& part) {
    return part.main.fitted ? !part.main.interrupted() : part.held.whole;
  };
  JobPlan plan = plan_of(context_, kNoiseFolds, title);
  // Other ranks cannot run the folds before the main fit has chosen the options: they share its search.
  if (options_.is_null()) plan.job_ranks = nullptr;
  return Jobs<Part>(
      plan, {run, save, [this](size_t job, const TensorFile& file) { return stored(job, file); }, whole});
}

CrossFitted NoiseSeries::run(const std::function<Tuned(const FitContext&)>& main) {
  Jobs<Part> all = jobs(main);
  all.begin();
  if (!options_.is_null()) all.ahead(0, folds_.size() + 1);
  // The ranks would share the search of the main fit, which an earlier run has finished.
  if (options_.is_null() && context_.job_ranks != nullptr && all.has(0)) context_.job_ranks->release();
  const Part first = all.take(0).value();
  main_ = first.main;
  if (options_.is_null()) options_ = main_.options;
  why_ = first.why;
  if (main_.interrupted()) return {main_, unknown("the fit was interrupted before it was estimated", true)};
  return run_folds(all);
}

CrossFitted NoiseSeries::run_after(Tuned main, std::string why) {
  main_ = std::move(main);
  options_ = main_.options;
  why_ = std::move(why);
  Jobs<Part> all = jobs(nullptr);
  all.begin_after({main_, why_, {}});
  return run_folds(all);
}

CrossFitted NoiseSeries::run_folds(Jobs<Part>& jobs) {
  const size_t k = folds_.size();
  jobs.ahead(1, k + 1);
  bool stopped = false;
  size_t done = 0;
  for (size_t fold = 0; fold < k; ++fold) {
    stopped = stopped || is_stopped(context_);
    if ((stopped || seconds_left(context_) <= 0) && !jobs.has(fold + 1)) continue;
    const JobOutcome<Part> outcome = jobs.take(fold + 1);
    // An interrupted fit may fail: nothing has chosen its parameters.
    if (outcome.result ? !outcome.result->held.whole : is_stopped(context_)) {
      stopped = true;
      continue;
    }
    if (outcome.result) {
      const HeldOut& held = outcome.result->held;
      residual_ = at::cat({residual_, held.residual});
      var_ = at::cat({var_, held.var});
      weight_ = at::cat({weight_, held.weight});
      group_sums_ = at::cat({group_sums_, sums_by_group(group_, folds_[fold].held, held.weight)});
      groups_ += count_groups(group_, folds_[fold].held);
      ++served_;
    } else {
      const auto failure = failure_of(outcome.thrown);  // an option may fit the table but not a fold
      if (!failure) std::rethrow_exception(outcome.thrown);
      notes_.push_back(fmt::format("fold {} of {} failed: {}", fold + 1, k, *failure));
    }
    ++done;
  }
  if (done < k && !stopped)
    notes_.push_back(
        fmt::format("the time limit left out {} of the {} folds that estimate the noise", k - done, k));
  return {main_, estimate(stopped)};
}

NoiseSeries::HeldOut NoiseSeries::without(size_t fold, const JobContext& job) const {
  const Fold& rows = folds_[fold];
  const auto n = std::ssize(rows.train);
  if (n < 2) throw NumericalError("fewer than 2 rows are left to train on");
  const json options = options_had(fold_method_, fold_options(method_, options_, parts_.train.size(), n));
  const std::unique_ptr<Method> method = registry_row(fold_method_.name).make(options);
  FitContext own =
      part_of(context_, context_.stream.split("noise fold").split(static_cast<uint64_t>(fold)), job);
  own.start = nullptr;  // a network at hand may have learned the rows that are held out
  const TimedPart part(std::move(own), time_shares(folds_.size() - fold, job.beside));
  const auto fitted = method->fit(
      {all_.subset(at::tensor(rows.train, at::kLong)), all_.subset(at::tensor(rows.valid, at::kLong))},
      part.context());
  const Dataset held = all_.subset(at::tensor(rows.held, at::kLong));
  const auto p = std::get<Regression>(fitted->predict(held, {.device = context_.device}));
  const at::Tensor residual = targets_of(held) - p.mean, var = p.epistemic_var;
  if (!at::isfinite(residual + var).all().item<bool>()) throw NumericalError("an answer is not finite");
  const at::Tensor weight = group_weights(group_, rows.held), of_rows = held.weights();
  return {residual, var, of_rows.defined() ? weight * of_rows : weight, is_whole(*fitted)};
}

NoiseEstimate NoiseSeries::unknown(const std::string& why, bool stopped) const {
  NoiseEstimate noise{0, 0, 0, 0, stopped, notes_};
  noise.notes.push_back(fmt::format("{}: the sd may be far too small; {}", why_, why));
  return noise;
}

double NoiseSeries::known_groups() const {
  return all_.weights().defined() && groups_ > 0 ? effective_rows(group_sums_, groups_)
                                                 : static_cast<double>(groups_);
}

NoiseEstimate NoiseSeries::estimate(bool stopped) const {
  const double g = known_groups();
  if (g < static_cast<double>(kFewestGroups))
    return unknown("too few folds could be fitted to estimate it", stopped);
  NoiseEstimate noise{served_, residual_.size(0)};
  noise.interrupted = stopped;
  noise.notes = notes_;
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
        "{}: the noise was estimated by {}-fold cross-fitting on {} rows: an sd of at least {:.4g}{}{}{}",
        why_, served_, noise.rows, noise.sd,
        parts_.train.schema.task.bounds ? " of the transformed target" : "",
        g < static_cast<double>(kEnoughRows) ? "; an estimate from so few rows is rough" : "",
        !main_.report ? "" : "; the tuned options saw the validation rows"));
  return noise;
}

NoiseSeries::Part NoiseSeries::stored(size_t job, const TensorFile& file) const {
  if (job == 0) {
    const json kept = stored_json(file, kMain);
    const JsonReader read(kept, kNoiseFolds);
    std::optional<TuningReport> tuning;
    if (const json& report = read.value("tuning"); !report.is_null()) tuning = tuning_from_json(report);
    return {{method_.resolve(read.value("options")),
             finished_fit(registry_row(method_.name), file, parts_.train), std::move(tuning)},
            read.text("why"),
            {}};
  }
  const auto rows = std::ssize(folds_.at(job - 1).held);
  HeldOut held{stored_numbers(file, kResidual), stored_numbers(file, kVar), stored_numbers(file, kWeight),
               true};
  check_shape(held.residual, {rows}, kNoiseFolds, kResidual);
  check_shape(held.var, {rows}, kNoiseFolds, kVar);
  check_shape(held.weight, {rows}, kNoiseFolds, kWeight);
  check((held.var >= 0).all().item<bool>() && (held.weight > 0).all().item<bool>(), kNoiseFolds,
        "variances from 0 and weights above 0", "others");
  return {{}, "", std::move(held)};
}

}  // namespace slimbayes
