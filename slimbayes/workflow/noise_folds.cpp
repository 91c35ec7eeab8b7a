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

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"
#include "slimbayes/core/metrics.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/data/folds.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/methods/finished_fit.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/checkpoint_reader.h"
#include "slimbayes/train/fit_series.h"
#include "slimbayes/workflow/input_groups.h"

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr const char* kNoiseFolds = "noise folds";
constexpr int64_t kMostRows = 2000;  // for larger tables, more validation rows cost less than K more fits
constexpr int64_t kFewestGroups = 4;

/// Returns how many independent validation rows there are: with `grouped`, rows with identical inputs count
/// once, since they inform on the noise at one input only.
int64_t validation_units(const Split& parts, bool grouped) {
  const int64_t n = parts.valid.size();
  return grouped && n > 0 ? std::get<0>(at::unique_dim(parts.valid.all().inputs.at(0), 0)).size(0) : n;
}

/// Returns "only 3 validation rows", "only 4 different inputs among 32 validation rows" or "no validation
/// rows", with `noun` for "row".
std::string few(const Split& parts, bool grouped, std::string_view noun = "row") {
  const int64_t n = parts.valid.size(), units = validation_units(parts, grouped);
  if (n == 0) return fmt::format("no validation {}s", noun);
  if (units < n)
    return fmt::format("only {} among {} validation {}s", counted(units, "different input"), n, noun);
  return fmt::format("only {} validation {}{}", n, noun, n == 1 ? "" : "s");
}

/// Whether the method has the noise of another one, or another one has its noise (MethodInfo::noise_of). Both
/// take it from the errors on the validation rows. A doubt that only one of them meets would give them
/// different noises, and rich-bll's variance would no longer be at least bll's.
bool shares_noise(const MethodInfo& method) {
  return !method.noise_of.empty() || std::ranges::any_of(method_catalog(), [&](const MethodInfo& m) {
    return m.noise_of == method.name;
  });
}

/// Returns why the answers `p` to the validation rows put the noise in doubt; "" if they do not.
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
  const at::Tensor sd = y.std(/*unbiased=*/false);
  if (sd.item<double>() > 0 &&
      gaussian_nll(p, y) >=
          gaussian_nll({y.mean().expand_as(y), sd.square().expand_as(y), at::zeros_like(y)}, y))
    return fmt::format("on {} validation {}s the NLL is no better than that of one answer for every {}",
                       y.size(0), how.noun, how.noun);
  return "";
}

/// Returns the note on few validation rows if no folds run.
std::string few_rows_note(const Split& parts, const NoiseFolds& how) {
  const int64_t folds = how.folds;
  const std::string rests_on = few(parts, how.grouped, how.noun);
  if (parts.train.schema.task.kind != TaskKind::regression)
    return fmt::format("{}: the answers may be too sure; {}give more {}s", rests_on,
                       how.splits ? "raise --valid-fraction, or " : "", how.noun);
  if (!how.possible || (folds > 0 && parts.train.size() > kMostRows))
    return fmt::format("{}: the sd may be too small; {}give --valid FILE, to have {}", rests_on,
                       how.splits ? "raise --valid-fraction, or " : "", kEnoughRows);
  if (folds > 0)
    return fmt::format("{}, and fewer than {} different inputs: the sd may be far too small; give more rows",
                       rests_on, kFewestGroups);
  return fmt::format("{}: the sd may be far too small; --noise-folds 5 estimates it by cross-fitting",
                     rests_on);
}

/// Returns the options that a method has of those given.
json options_had(const MethodInfo& method, const json& given) {
  json own = json::object();
  for (const OptionDoc& doc : options_of(method, given))
    if (given.contains(doc.name)) own[doc.name] = given.at(doc.name);
  return own;
}

/// Returns the method's options for a fold's fit. A rank (OptionDoc::at_most_rows) that the training rows
/// allow is lowered if the fold's fit has fewer rows.
json fold_options(const MethodInfo& method, json options, int64_t train_rows, int64_t rows) {
  for (const OptionDoc& doc : options_of(method, options)) {
    if (!doc.at_most_rows || !options.contains(doc.name)) continue;
    json& rank = options[doc.name];
    if (rank.get<int64_t>() > rows && rank.get<int64_t>() <= train_rows) rank = rows;
  }
  return options;
}

/// The main fit and its folds in progress.
class Series {
 public:
  Series(const MethodInfo& method, const Split& parts, const NoiseFolds& folds, const FitContext& context)
      : method_(method),
        fold_method_(method.noise_of.empty() ? method : find_method(method.noise_of)),
        parts_(parts),
        context_(context),
        series_(context.checkpoint, kNoiseFolds, context.callback),
        all_(joined(parts.train, parts.valid)),
        grouped_(folds.grouped),
        group_(input_groups(all_, folds.grouped)),
        why_(few(parts, folds.grouped)) {
    std::vector<int64_t> every(group_.size());
    std::iota(every.begin(), every.end(), 0);
    if (count_groups(group_, every) < kFewestGroups) return;
    const double share = static_cast<double>(parts.valid.size()) / static_cast<double>(all_.size());
    folds_ = deal_folds(group_, folds.folds, share, folds.deal);
  }

  bool possible() const { return !folds_.empty(); }

  /// Whether an earlier run had begun the series.
  bool recorded() const { return series_.recorded(); }

  /// Runs the folds after a main fit that was not part of the series. `why` begins the note.
  CrossFitted run_after(Tuned main, std::string why) {
    main_ = std::move(main);
    why_ = std::move(why);
    remove_parts(context_.checkpoint.path);  // of the main fit: the folds' checkpoints have the same names
    save();
    return run_folds();
  }

  CrossFitted run(const std::function<Tuned(const FitContext&)>& main) {
    const auto record = series_.start(std::ssize(folds_) + 1);
    bool resumed = false;
    if (record) read_contents(series_.name(), kCheckpointHint, [&] { resumed = resume(*record); });
    if (!resumed) {
      FitContext own = context_;
      own.checkpoint = series_.part(0);
      main_ = main(own);
      if (main_.interrupted())
        return {main_, unknown("the fit was interrupted before it was estimated", true)};
      save();
    }
    return run_folds();
  }

 private:
  CrossFitted run_folds() {
    bool stopped = false;
    while (done_ < folds_.size() && !stopped) stopped = !next();
    return {main_, estimate(stopped)};
  }

  static bool interrupted(const Fitted& fitted) { return fitted.summary().stopped == Stopped::interrupted; }

  bool stopped() const { return context_.callback && context_.callback->stop(); }

  /// Fits and predicts the next fold. Returns false if it was interrupted.
  bool next() {
    if (context_.callback) {
      if (context_.callback->stop()) return false;
      context_.callback->stage(fmt::format("fold {}/{}", done_ + 1, folds_.size()));
    }
    const Fold& fold = folds_[done_];
    const auto rows = std::ssize(fold.train);
    try {
      if (rows < 2) throw NumericalError("fewer than 2 rows are left to train on");
      const auto fitted = registry_row(fold_method_.name)
                              .make(options_had(fold_method_, fold_options(method_, main_.options,
                                                                           parts_.train.size(), rows)))
                              ->fit({all_.subset(at::tensor(fold.train, at::kLong)),
                                     all_.subset(at::tensor(fold.valid, at::kLong))},
                                    {context_.stream.split("noise fold").split(static_cast<uint64_t>(done_)),
                                     context_.callback,
                                     series_.part(static_cast<int64_t>(done_) + 1),
                                     {},
                                     context_.networks});
      if (interrupted(*fitted)) return false;
      const Dataset held = all_.subset(at::tensor(fold.held, at::kLong));
      const auto p = std::get<Regression>(fitted->predict(held));
      const at::Tensor residual = targets_of(held) - p.mean, var = p.epistemic_var;
      if (!at::isfinite(residual + var).all().item<bool>()) throw NumericalError("an answer is not finite");
      residual_ = at::cat({residual_, residual});
      var_ = at::cat({var_, var});
      weight_ = at::cat({weight_, group_weights(group_, fold.held)});
      groups_ += count_groups(group_, fold.held);
      ++served_;
    } catch (const NumericalError& error) {
      if (stopped()) return false;  // an interrupted fit may fail because its parameters were never selected
      failed(error);
    } catch (const std::invalid_argument& error) {  // an option may suit the table but not a fold
      if (stopped()) return false;
      failed(error);
    }
    ++done_;
    save();
    return true;
  }

  void failed(const std::exception& error) {
    notes_.push_back(fmt::format("fold {} of {} failed: {}", done_ + 1, folds_.size(), error.what()));
  }

  /// Returns a result without an estimate, and a note that says why.
  NoiseEstimate unknown(const std::string& why, bool stopped) const {
    NoiseEstimate noise{0, 0, 0, 0, stopped, notes_};
    noise.notes.push_back(fmt::format("{}: the sd may be far too small; {}", why_, why));
    return noise;
  }

  NoiseEstimate estimate(bool stopped) const {
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
          "{}: the noise was estimated by {}-fold cross-fitting on {} rows: an sd of at least {:.4g}{}{}",
          why_, served_, noise.rows, noise.sd,
          groups_ < kEnoughRows ? "; an estimate from so few rows is rough" : "",
          main_.report.is_null() ? "" : "; the tuned options saw the validation rows"));
    return noise;
  }

  /// Reads the state from the record. Returns false if the main fit is not in the record yet.
  bool resume(TensorFile record) {
    if (!record.metadata.contains("folds")) return false;
    const json kept = stored_json(record, "folds");
    const JsonReader read(kept, kNoiseFolds);
    const int64_t done = read.count("done", 0, std::ssize(folds_));
    check(std::to_string(done + 1) == record.metadata.at("done"), kNoiseFolds,
          "a record of " + record.metadata.at("done") + " fits", std::to_string(done + 1));
    done_ = static_cast<size_t>(done);
    served_ = read.count("served", 0, done);
    groups_ = read.count("groups", 0, std::ssize(group_));
    notes_ = read.texts("notes");
    why_ = read.text("why");
    residual_ = taken(record, kResidual);
    var_ = taken(record, kVar);
    weight_ = taken(record, kWeight);
    const int64_t rows = residual_.size(0);
    check(rows >= groups_ && rows <= all_.size() && (rows > 0) == (served_ > 0), kNoiseFolds,
          fmt::format("{} to {} rows", groups_, all_.size()), std::to_string(rows));
    check_shape(var_, {rows}, kNoiseFolds, kVar);
    check_shape(weight_, {rows}, kNoiseFolds, kWeight);
    check((var_ >= 0).all().item<bool>() && (weight_ > 0).all().item<bool>(), kNoiseFolds,
          "variances from 0 and weights above 0", "others");
    if (!read.value("tuning").is_null()) check_tuning_report(read.value("tuning"));
    main_ = {method_.resolve(read.value("options")),
             finished_fit(registry_row(method_.name), record, parts_.train), read.value("tuning")};
    return true;
  }

  /// Removes a tensor of finite float64 numbers from the record and returns it. [rows]
  static at::Tensor taken(TensorFile& record, const char* name) {
    at::Tensor x = stored_tensor(record, name);
    check_shape(x, {-1}, kNoiseFolds, name);
    check(x.scalar_type() == at::kDouble, kNoiseFolds, fmt::format("float64 numbers in {}", name), "others");
    check_finite(x, kNoiseFolds, name);
    record.tensors.erase(name);
    return x;
  }

  void save() const {
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

  static constexpr const char* kResidual = "folds.residual";
  static constexpr const char* kVar = "folds.var";
  static constexpr const char* kWeight = "folds.weight";

  const MethodInfo& method_;
  const MethodInfo& fold_method_;  // MethodInfo::noise_of
  const Split& parts_;
  const FitContext& context_;
  FitSeries series_;
  Dataset all_;  // training, then validation rows
  bool grouped_;
  std::vector<int64_t> group_;  // [n] group of each row
  std::vector<Fold> folds_;
  Tuned main_;
  size_t done_ = 0;                  // folds done, failed ones included
  int64_t served_ = 0, groups_ = 0;  // folds that did not fail, and the groups in them
  at::Tensor residual_ = at::empty({0}, at::kDouble), var_ = residual_, weight_ = residual_;
  std::vector<std::string> notes_;
  std::string why_;  // why the noise is estimated so: begins the note on it
};

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
  Series series(method, parts, folds, context);
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
