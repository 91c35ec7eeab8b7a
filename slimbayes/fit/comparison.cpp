#include "slimbayes/fit/comparison.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "slimbayes/catalog/fields_from_json.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/feature_fit.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/fit/parallel.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/network_cache.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/job_ranks.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

namespace {

/// The note in the report of a fit that used a network which an earlier fit of the comparison had trained.
constexpr const char* kShared =
    "took a network that was trained before in this comparison, with the same seed, options and rows; the "
    "seconds contain its training";

/// One fit of a comparison, and its report.
struct ComparedFit {
  size_t method;  // index
  FitOptions fit;
  std::string title;
};
struct ComparedRun {
  MethodRun run = {};
  bool interrupted = false;
  double seconds = 0;  // without those that it waited for networks
  /// The networks that it took from the shared cache or put there, and the seconds of their training.
  std::vector<std::pair<std::string, double>> networks = {};
};

template <class V>
void describe(ComparedRun& f, V& v) {
  v("run", f.run, "the fit and its metrics");
  v("interrupted", f.interrupted, "whether the fit was interrupted");
  v("seconds", f.seconds, "its time without that of the networks");
  v("networks", f.networks, "key and seconds of each network");
}

constexpr const char* kRun = "run";

/// Returns a run as a file for rank 0, and the run of such a file. MessagePack, unlike the text of JSON,
/// keeps numbers that are not finite.
TensorFile run_file(const ComparedRun& run) {
  const std::vector<uint8_t> packed = nlohmann::json::to_msgpack(fields_to_json(run));
  TensorFile file;
  StoredTensor& stored = file.tensors[kRun];
  stored = {StoredType::u8, {std::ssize(packed)}, std::vector<std::byte>(packed.size())};
  std::memcpy(stored.bytes.data(), packed.data(), packed.size());
  return file;
}
ComparedRun run_from(size_t, const TensorFile& file) {
  const std::vector<std::byte>& packed = file.tensors.at(kRun).bytes;
  const auto* first = reinterpret_cast<const uint8_t*>(packed.data());
  return fields_from_json<ComparedRun>(nlohmann::json::from_msgpack(first, first + packed.size()));
}

/// Passes the progress of one fit on, and names it.
class TitledCallback : public Callback {
 public:
  TitledCallback(Callback* inner, std::string title) : inner_(inner), title_(std::move(title)) {}
  void report(const Progress& progress) override {
    if (inner_) inner_->report(progress);
  }
  void stage(const std::string& name) override {
    if (inner_) inner_->stage(title_ + " " + name);
  }
  void note(const std::string& sentence) override {
    if (inner_) inner_->note(sentence);
  }
  bool stop() override { return inner_ && inner_->stop(); }
  bool late() override { return inner_ && inner_->late(); }
  double seconds_left() const override { return inner_ ? inner_->seconds_left() : Callback::seconds_left(); }

 private:
  Callback* inner_;
  std::string title_;
};

ComparedRun one_run(const Examples& examples, const FitOptions& fit, std::vector<std::string> notes,
                    Callback& callback, NetworkCache* networks) {
  const auto start = std::chrono::steady_clock::now();
  const Model model = fit_model(examples, fit, nullptr, &callback, {}, networks);
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::optional<Evaluation> test =
      report_on(model, take(examples, model.split().test), fit.level, notes);
  ComparedRun run{{test.value(), {}}, model.interrupted(), spent};
  for (const NetworkCache::Use& use : networks ? networks->uses() : std::vector<NetworkCache::Use>{}) {
    run.seconds -= use.waited;
    run.networks.emplace_back(use.key, use.seconds);
  }
  const std::optional<Evaluation> valid =
      report_on(model, take(examples, model.split().valid), fit.level, notes);
  RunOfFit& of = run.run.fit;
  of.seed = fit.seed;
  of.split_seed = fit.split_seed;
  if (fit.test_folds > 0) of.fold = fit.test_fold;
  const std::vector<std::string> own = fit_notes(model, valid, test, fit.level);
  of.notes = std::move(notes);
  of.notes.insert(of.notes.end(), own.begin(), own.end());
  of.facts = model.fitted().summary().facts;
  return run;
}

/// Returns the run with its seconds. `known` are the networks of the runs before it in the
/// list: that list, not the order in which the fits ran, says who shares a network.
MethodRun with_seconds(ComparedRun run, std::set<std::string>& known) {
  double shared = 0;
  bool shares = false;
  for (const auto& [key, seconds] : run.networks) {
    run.seconds += seconds;
    if (known.insert(key).second) continue;
    shares = true;
    shared += seconds;
  }
  RunOfFit& of = run.run.fit;
  of.seconds = run.seconds;
  if (shares) {
    of.seconds_shared = shared;
    of.notes.emplace_back(kShared);
  }
  return std::move(run.run);
}

/// Returns how many fits run beside each other: as many as FitOptions says, or as the memory at hand allows
/// for a table (workers_at_hand).
int comparison_workers(const Examples& examples, const FitOptions& fit,
                       const std::vector<MethodChoice>& methods, Callback* callback) {
  const int asked = fit_workers(fit, methods);
  const Table* table = table_of(examples);
  if (table == nullptr || asked < 2 || kind_asked(examples, fit) != InputKind::table) return asked;
  const FitSize size{table->rows, {{most_features(*table)}}};
  return workers_at_hand(asked, size, methods, callback);
}

/// Returns the message of a failed fit. Throws RanksEnded if that ended the fit: it is no failure of a
/// method.
std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const RanksEnded&) {
    throw;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
}

int splits_of(const ComparisonPlan& plan) { return plan.folds > 0 ? plan.folds : plan.repeats; }

/// Throws std::invalid_argument as compare() for a plan that does not suit the fits or their examples.
void check_plan(const ComparisonPlan& plan, const FitOptions& fit, InputKind kind) {
  check_options(plan, "compare");
  if (!(fit.test_fraction > 0))
    refuse("compare", "test examples, on which the methods are compared",
           fmt::format("a test fraction of {}", fit.test_fraction), "use a `.test_fraction` above 0");
  const int splits = splits_of(plan);
  if (!(plan.folds == 0 || (plan.folds > 1 && plan.repeats == 1)))
    refuse("compare", "two or more folds of one repeat",
           fmt::format("{} folds and {} repeats", plan.folds, plan.repeats), "leave `.repeats` out");
  if (splits != 1 && (kind == InputKind::windows || fit.split == "time"))
    refuse("compare",
           kind == InputKind::windows ? "one split of a time series, which is split by time"
                                      : "one split by time, as `.split=time` makes it",
           fmt::format("{} splits", splits), "leave `.repeats` and `.cross_validate` out");
}

/// Returns what decides the results, which is the same on all ranks.
nlohmann::json request_of(const Examples& examples, const FitOptions& fit,
                          const std::vector<MethodChoice>& methods, const ComparisonPlan& plan) {
  nlohmann::json all = options_to_json(fit);
  all.update(options_to_json(plan));
  all.update({{"data", hash_of(examples)}, {"level", fit.level}, {"seed", fit.seed}});
  for (const MethodChoice& one : methods)
    all["methods"].push_back(nlohmann::json::array({one.method, one.options}));
  return all;
}

/// Returns the fits of a comparison in the order of the results: split by split, method by method.
std::vector<ComparedFit> fits_of(const FitOptions& fit, const std::vector<MethodChoice>& methods,
                                 const ComparisonPlan& plan) {
  const int splits = splits_of(plan);
  std::vector<ComparedFit> all;
  for (int repeat = 0; repeat < splits; ++repeat) {
    for (size_t i = 0; i < methods.size(); ++i) {
      FitOptions own = fit;
      own.method = methods[i].method;
      own.options = methods[i].options;
      if (plan.folds > 0) {
        own.test_folds = plan.folds;
        own.test_fold = repeat;
        own.test_fraction = 1.0 / plan.folds;
      } else {
        own.split_seed = fit.split_seed + static_cast<uint64_t>(repeat);
      }
      const int seeds = find_method(own.method).seeded ? plan.seeds : 1;
      for (int seed = 0; seed < seeds; ++seed) {
        own.seed = fit.seed + static_cast<uint64_t>(seed);
        all.push_back({i, own,
                       splits == 1 ? fmt::format("{} seed {}", own.method, own.seed)
                                   : fmt::format("{} {} {} seed {}", own.method,
                                                 plan.folds > 0 ? "fold" : "split", repeat, own.seed)});
      }
    }
  }
  // Of several fits each has one thread, whether it runs beside others or not.
  if (all.size() > 1)
    for (ComparedFit& one : all) one.fit.threads = one.fit.workers = 1;
  return all;
}

/// Ends the fits after i of the same method, which has failed.
void drop_fits_after(size_t i, const std::vector<ComparedFit>& fits, Jobs<ComparedRun>& jobs) {
  for (size_t k = i + 1; k < fits.size(); ++k)
    if (fits[k].method == fits[i].method) jobs.drop(k, k + 1);
}

/// Tells the callback (may be nullptr) that the ranks share the fits. A single fit is made by rank 0, with
/// its number of threads, and the others end.
void share_fits(JobRanks& ranks, size_t fits, Callback* callback) {
  if (fits == 1) return ranks.release();
  if (callback != nullptr) callback->note(fmt::format("{} processes share the fits", ranks.size()));
}

/// Adds the note of few_scored to each report.
void note_few_scored(std::vector<MethodRuns>& results, InputKind kind) {
  for (MethodRuns& one : results)
    for (MethodRun& run : one.runs)
      if (std::string few = few_scored(run.report.n, fmt::format("test {}", noun_of(kind)), kTestMore);
          !few.empty())
        run.fit.notes.push_back(std::move(few));
}

}  // namespace

std::vector<MethodChoice> methods_that_take(const Examples& examples, const FitOptions& options,
                                            const std::vector<MethodChoice>& methods, bool all_must) {
  const TaskKind task = task_asked(examples, options);
  const InputKind kind = kind_asked(examples, options);
  bool MethodInfo::*const fact = fact_of(options.likelihood);
  std::vector<MethodChoice> out;
  for (const MethodChoice& choice : methods) {
    const MethodInfo& info = find_method(choice.method);
    const std::string as_classes = task == TaskKind::regression && takes(info, TaskKind::classification)
                                       ? "; `.likelihood=softmax` takes whole numbers as classes"
                                       : "";
    const bool taken = takes(info, task, choice.options) && takes(info, kind, choice.options) &&
                       (!options.likelihood || takes(info, *options.likelihood, choice.options));
    if (!taken && all_must)
      refuse("compare",
             fmt::format("methods for {}{}",
                         fact ? fmt::format("`.likelihood={}`", name_of(*options.likelihood)) : name_of(task),
                         kind == InputKind::table ? "" : fmt::format(" of {}", name_of(kind))),
             in_quotes(choice.method),
             (fact ? methods_that(fact) : methods_taking(task, kind)) + " take it" + as_classes);
    if (taken) out.push_back(choice);
  }
  return out;
}

std::vector<MethodChoice> methods_to_compare(const Examples& examples, const FitOptions& options,
                                             const std::vector<MethodChoice>& methods, bool named) {
  std::vector<MethodChoice> all = methods_that_take(examples, options, methods, named), plain;
  for (const MethodInfo& info : method_catalog())
    if (info.plain && std::ranges::find(all, info.name, &MethodChoice::method) == all.end())
      plain.push_back({info.name, info.resolve(nlohmann::json::object())});
  std::ranges::move(methods_that_take(examples, options, plain, /*all_must=*/false), std::back_inserter(all));
  return all;
}

std::vector<MethodRuns> compare(const Examples& examples, const FitOptions& fit,
                                const std::vector<MethodChoice>& methods, const ComparisonPlan& plan,
                                const std::vector<std::string>& notes, Callback* callback,
                                const Collective* ranks) {
  if (ranks != nullptr) check_same_request(*ranks, request_of(examples, fit, methods, plan));
  together(ranks, [&] { check_plan(plan, fit, kind_asked(examples, fit)); });
  const NetworkCache networks;  // shared by all methods that start from a trained network
  const auto takes_network = [](const MethodChoice& c) { return find_method(c.method).takes_network; };
  const bool several = std::ranges::count_if(methods, takes_network) > 1;
  const std::vector<std::string> devices = devices_of(fit, methods, ranks, callback);
  std::vector<ComparedFit> fits = fits_of(fit, methods, plan);
  for (ComparedFit& one : fits) one.fit.device = devices[one.method];
  const int workers = fits.size() > 1 ? comparison_workers(examples, fit, methods, callback) : 1;
  const ThreadScope one_thread(fits.size() > 1 ? 1 : 0);  // for the scores, too
  const auto run = [&](size_t i, const JobContext& job) {
    const auto own = several && takes_network(methods[fits[i].method]) ? networks.shared() : nullptr;
    TitledCallback titled(job.callback, fits[i].title);
    return one_run(examples, fits[i].fit, notes, titled, own.get());
  };
  std::optional<JobRanks> job_ranks;
  if (ranks != nullptr) share_fits(job_ranks.emplace(*ranks), fits.size(), callback);
  Jobs<ComparedRun> jobs({.kind = "comparison",
                          .callback = callback,
                          .workers = workers,
                          .title = [&](size_t i) { return fits[i].title; },
                          .job_ranks = job_ranks ? &*job_ranks : nullptr},
                         {run, run_file, run_from, nullptr});
  jobs.begin();
  jobs.ahead(0, fits.size());
  std::vector<MethodRuns> results;
  std::set<std::string> known;
  const auto stopped = [&] { return callback != nullptr && callback->stop(); };
  bool interrupted = false;
  for (size_t i = 0; i < fits.size(); ++i) {
    if (fits[i].method == results.size()) results.push_back({fits[i].fit.method});
    MethodRuns& result = results[fits[i].method];
    interrupted = interrupted || stopped();
    if (!result.failure.empty() || (interrupted && !jobs.has(i))) continue;
    JobOutcome<ComparedRun> outcome = jobs.take(i);
    if (outcome.result ? outcome.result->interrupted : stopped()) {
      interrupted = true;
      continue;
    }
    if (outcome.thrown) {
      result.failure = message_of(outcome.thrown);
      result.thrown = outcome.thrown;
      drop_fits_after(i, fits, jobs);
      continue;
    }
    result.runs.push_back(with_seconds(*std::move(outcome.result), known));
  }
  if (interrupted) {
    std::erase_if(results, [](const MethodRuns& one) { return one.runs.empty() && one.failure.empty(); });
    return results;
  }
  if (splits_of(plan) == 1) note_few_scored(results, kind_asked(examples, fit));  // else leading_pair judges
  return results;
}

std::map<std::string, ForecastScores> forecasts_in(const std::vector<MethodRuns>& results) {
  const auto first = std::ranges::find_if(results, [](const MethodRuns& each) { return !each.runs.empty(); });
  std::map<std::string, ForecastScores> found;
  if (first == results.end()) return found;
  const Evaluation& report = first->runs.front().report;
  if (report.persistence) found["persistence"] = *report.persistence;
  if (report.seasonal_persistence) found["seasonal_persistence"] = *report.seasonal_persistence;
  for (auto& [name, scores] : found) scores.model_mae = scores.model_accuracy = std::nullopt;
  return found;
}

std::optional<LeadingPair> leading_pair(const std::vector<MethodRuns>& results, double test_fraction) {
  struct Entry {
    const MethodRuns* of;
    std::map<std::pair<uint64_t, int64_t>, double> by_split;  // mean NLL by split_seed and fold
    double mean = 0;
  };
  std::vector<Entry> all;
  for (const MethodRuns& one : results) {
    if (!one.failure.empty()) continue;
    Entry entry{&one, {}};
    std::map<std::pair<uint64_t, int64_t>, double> fits;
    for (const MethodRun& run : one.runs) {
      const std::pair split{run.fit.split_seed, run.fit.fold.value_or(0)};
      entry.by_split[split] += run.report.nll;
      fits[split] += 1;
    }
    if (fits.size() < 2) continue;
    for (auto& [split, sum] : entry.by_split) {
      sum /= fits[split];
      entry.mean += sum / static_cast<double>(fits.size());
    }
    all.push_back(std::move(entry));
  }
  std::ranges::stable_sort(all, {}, &Entry::mean);
  if (all.size() < 2 || all[0].by_split.size() != all[1].by_split.size()) return std::nullopt;
  std::vector<double> differences;
  for (const auto& [split, nll] : all[0].by_split) {
    if (!all[1].by_split.contains(split)) return std::nullopt;
    differences.push_back(nll - all[1].by_split.at(split));
  }
  return LeadingPair{all[0].of->method, all[1].of->method,
                     paired_difference(differences, test_fraction / (1 - test_fraction))};
}

}  // namespace slimbayes
