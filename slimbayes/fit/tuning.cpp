// Chooses options by the NLL of the validation rows. It searches a grid: two options of four values each give
// only sixteen fits, and the report can list them all. The score is the same for every method: the NLL of the
// fitted model's float64 predictions (for events the method's own score). The score by which a method chooses
// its epoch during training may be another one. Nothing is refitted: the result is one of the fits,
// bit-identical to a `fit` with the same options. The validation rows chose both the epoch and the options,
// so their NLL is optimistic; the NLL of the test rows is not.
#include "slimbayes/fit/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "slimbayes/answers/answers.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/finished_fit.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/timed_part.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr const char* kTuning = "tuning";

/// Returns every combination of the values in the grids of the options `names`, each as {name: value, ...};
/// the last option varies fastest. Throws std::invalid_argument for no options or one without a grid.
std::vector<json> combinations(const std::vector<OptionDoc>& docs, const std::vector<std::string>& names) {
  check(!names.empty(), "tune", "at least one option to tune", "none");
  std::vector<json> all = {json::object()};
  std::vector<std::string> tunable;
  for (const OptionDoc& doc : docs) {
    if (!doc.grid.empty()) tunable.push_back(doc.name);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(tunable, name) == tunable.end())
      refuse("tune", "an option with values to try", foreign_text(name), nearest_hint(name, tunable));
    const auto doc = std::ranges::find(docs, name, &OptionDoc::name);
    std::vector<json> longer;
    for (const json& some : all) {
      for (double value : doc->grid) {
        longer.push_back(some);
        longer.back()[name] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::string text_of(const json& combination) {
  std::string text;
  for (const auto& item : combination.items()) {
    text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", item.key(), item.value().get<double>());
  }
  return text;
}

/// Returns the mean NLL of the validation rows. For events, whose joint density has no closed form, returns
/// the score by which the method chose its parameters.
double predictive_nll(const Fitted& fitted, const Dataset& valid, at::Device device) {
  return nll_of_answers(valid, [&](const Dataset& rows) { return fitted.predict(rows, {.device = device}); })
      .value_or(fitted.summary().best_score);
}

double validation_nll(const Fitted& fitted, const Dataset& valid, at::Device device) {
  const double nll = predictive_nll(fitted, valid, device);
  if (!std::isfinite(nll))
    throw NumericalError(fmt::format("[tune] expected a finite validation NLL; received {}", nll));
  return nll;
}

/// The fit of a combination, with its score on the validation rows.
struct ScoredFit {
  std::shared_ptr<const Fitted> fitted;
  double nll;
};

constexpr const char* kNll = "tuning.nll";  // metadata key of a job's file

/// A grid search in progress: what has been tried, and the best fit so far.
class Search {
 public:
  Search(const MethodInfo& method, const json& options, const std::vector<std::string>& names,
         const Split& split, const FitContext& context)
      : method_(method),
        options_(options),
        all_(combinations(options_of(method, options), names)),
        split_(split),
        context_(within_memory(context, split.train, {{std::string(method.name), options}})),
        jobs_(
            plan_of(context_, kTuning, [this](size_t i) { return fmt::format("{}/{}", i + 1, all_.size()); }),
            {[this](size_t i, const JobContext& job) { return fit(i, job); },
             [](const ScoredFit& one) {
               TensorFile file = one.fitted->save();
               file.metadata[kNll] = fmt::format("{:a}", one.nll);
               return file;
             },
             [this](size_t, const TensorFile& file) { return stored(file); },
             [](const ScoredFit& one) { return is_whole(*one.fitted); }}),
        report_({names, std::ssize(all_)}) {
    for (size_t i = 0; i < all_.size(); ++i) method_of(i);  // throws for invalid options before the first fit
  }

  Tuned run() {
    jobs_.begin();
    jobs_.ahead(0, all_.size());
    for (size_t i = 0; i < all_.size(); ++i)
      if (!is_over() || jobs_.has(i)) take(i);
    if (!best_ && first_part_) consider(first_part_->entry, first_part_->options, first_part_->fit);
    if (!best_ && tried() == 0) throw Interrupted("the search was interrupted before its first fit");
    if (!best_) {
      throw NumericalError(
          fmt::format("[tune] expected a combination of options that can be fitted; received {} that cannot; "
                      "the first said: {}",
                      tried(), report_.tried.front().failed.value_or("")));
    }
    if (tried() < all_.size() && out_of_time()) {
      report_.untried = static_cast<int64_t>(all_.size() - tried());
    } else if (tried() < all_.size()) {
      report_.interrupted = true;
    }
    report_.spread = spread();
    return {best_options_, best_, report_};
  }

 private:
  json with(size_t i) const {
    json options = options_;
    options.update(all_[i]);
    return options;
  }

  /// Returns the largest minus the smallest validation NLL of the combinations tried: how much the choice
  /// mattered.
  double spread() const {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const TriedOptions& entry : report_.tried) {
      least = std::min(least, entry.valid_nll.value_or(least));
      most = std::max(most, entry.valid_nll.value_or(most));
    }
    return most >= least ? most - least : 0;  // 0 if the first fit was interrupted
  }

  std::unique_ptr<Method> method_of(size_t i) const { return registry_row(method_.name).make(with(i)); }

  size_t tried() const { return report_.tried.size(); }

  /// Returns whether to begin no more fits. Those that have begun still count if they are finished. The first
  /// fit always runs, so that there is a model.
  bool is_over() const { return interrupted_ || (best_ && (is_stopped(context_) || out_of_time())); }

  bool out_of_time() const { return seconds_left(context_) < 0; }

  /// Fits combination i and scores it. Another one may be fitted at the same time.
  ScoredFit fit(size_t i, const JobContext& job) const {
    const TimedPart part(part_of(context_, context_.stream, job), time_shares(all_.size() - i, job.beside));
    std::shared_ptr<const Fitted> fitted = method_of(i)->fit(split_, part.context());
    const double nll = validation_nll(*fitted, split_.valid, context_.device);
    return {std::move(fitted), nll};
  }

  ScoredFit stored(const TensorFile& file) const {
    const double nll = std::strtod(stored_text(file, kNll).c_str(), nullptr);
    if (!std::isfinite(nll)) refuse("tune", "a finite validation NLL", stored_text(file, kNll));
    return {finished_fit(registry_row(method_.name), file, split_.train), nll};
  }

  /// Takes combination i and records its score or its failure, unless its fit was interrupted.
  void take(size_t i) {
    TriedOptions entry{all_[i]};
    const JobOutcome<ScoredFit> outcome = jobs_.take(i);
    if (outcome.result) entry.valid_nll = outcome.result->nll;
    // A fit that is interrupted before its first validation has no parameters to keep and throws. It does not
    // count as a failed candidate.
    if (outcome.result ? !is_whole(*outcome.result->fitted) : is_stopped(context_)) {
      interrupted_ = true;
      if (outcome.result && !first_part_) first_part_ = {entry, with(i), *outcome.result};
      return;
    }
    if (outcome.result)
      consider(entry, with(i), *outcome.result);
    else
      entry.failed = numerical_failure(outcome.thrown);
    report_.tried.push_back(entry);
    if (outcome.cpu_seconds > 0) tell(entry);  // an earlier run has told of what it finished
  }

  /// Returns the message of a numerical failure; throws every other exception.
  static std::string numerical_failure(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const NumericalError& error) {
      return error.what();
    }
  }

  void consider(const TriedOptions& entry, const json& options, const ScoredFit& one) {
    if (best_ && !(one.nll < best_score_)) return;
    best_score_ = one.nll;
    best_options_ = options;
    best_ = one.fitted;
    report_.best = entry;
  }

  void tell(const TriedOptions& entry) const {
    if (!context_.callback) return;
    const std::string name = fmt::format("tried {} of {}: {}", tried(), all_.size(), text_of(entry.options));
    context_.callback->note(entry.failed ? fmt::format("{}: failed: {}", name, *entry.failed)
                                         : fmt::format("{}: validation NLL {:.4f} (best {:.4f})", name,
                                                       entry.valid_nll.value(), best_score_));
  }

  const MethodInfo& method_;
  const json& options_;
  std::vector<json> all_;
  const Split& split_;
  const FitContext context_;
  Jobs<ScoredFit> jobs_;
  TuningReport report_;
  json best_options_;
  double best_score_ = std::numeric_limits<double>::infinity();
  std::shared_ptr<const Fitted> best_;
  bool interrupted_ = false;  // the caller has stopped a fit
  /// The first interrupted fit. It is the answer if no other ends, but is not listed as tried.
  struct Part {
    TriedOptions entry;
    json options;
    ScoredFit fit;
  };
  std::optional<Part> first_part_;
};

}  // namespace

Tuned tune(const MethodInfo& method, const nlohmann::json& options, const std::vector<std::string>& names,
           const Split& split, const FitContext& context) {
  check(split.valid.size() > 0, "tune", "validation rows to choose by", "none",
        "raise `.valid_fraction`, or give `.valid=FILE`");
  std::vector<std::string> chosen = names;
  if (split.train.schema.task.kind != TaskKind::regression) {
    for (const OptionDoc& doc : options_of(method, options))
      if (doc.gaussian_only) std::erase(chosen, doc.name);
  }
  return Search(method, options, chosen, split, context).run();
}

}  // namespace slimbayes
