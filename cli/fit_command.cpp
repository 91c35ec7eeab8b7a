// fit: a table to a model file. The checkpoint and the finished model carry a fingerprint of everything that
// decides the result, so that --resume can tell "go on", "already done" and "another fit" apart. An
// interrupted fit's model has none: it is usable, not finished.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <xxhash.h>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/core/check.h"
#include "slimbayes/storage/atomic_file.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFingerprint = "fingerprint";

std::string fingerprint(const FitRequest& r, const Table& train, const Table* valid) {
  const json all = {{"train", table_hash(train)},
                    {"valid", valid ? table_hash(*valid) : ""},
                    {"target", r.target},
                    {"method", r.method},
                    {"options", r.options},
                    {"seed", r.seed},
                    {"split_seed", r.rows.split_seed},
                    {"fractions", {r.rows.valid_fraction, r.rows.test_fraction}},
                    {"split", r.rows.split},
                    {"scale", r.rows.scale},
                    {"scale_on", r.rows.scale_on},
                    {"calibrate", r.calibrate},
                    {"calibration_fraction", r.calibration_fraction},
                    {"tune", r.tune},
                    {"ignore", r.rows.ignore},
                    {"likelihood", r.rows.likelihood},
                    {"domain", r.rows.domain},
                    {"threads", at::get_num_threads()}};
  const std::string text = all.dump(-1, ' ', false, json::error_handler_t::replace);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// The model that a finished fit of this fingerprint left, if it did. Throws for that of another fit.
std::optional<TableModel> finished(const fs::path& path, const fs::path& checkpoint,
                                   const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::exists(checkpoint, ignored)) return std::nullopt;
  const TensorFile file = read_tensor_file(path);
  const auto found = file.metadata.find(kFingerprint);
  if (found == file.metadata.end()) return std::nullopt;  // an interrupted fit's
  check(found->second == fingerprint, "fit",
        fmt::format("'{}' to be the model of this fit, for --resume", path.string()),
        "the finished one of other data, options, seed or threads",
        "leave --resume out to fit anew, or name another --model");
  return TableModel::from_file(file, path.string());
}

/// A checkpoint that this fit made is removed when it fails; one that was there stays until it is replaced.
class CheckpointGuard {
 public:
  CheckpointGuard(fs::path path, bool resume)
      : path_(std::move(path)), before_(stamp()), going_on_(resume && before_) {}
  ~CheckpointGuard() {
    if (!keep_ && !going_on_ && is_ours()) remove();
  }
  bool was_there() const { return before_.has_value(); }
  /// This fit can go on from it.
  bool is_ours() const { return stamp() && (going_on_ || stamp() != before_); }
  void keep() { keep_ = true; }
  void remove() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  std::optional<fs::file_time_type> stamp() const {
    std::error_code failed;
    const auto time = fs::last_write_time(path_, failed);
    return failed ? std::nullopt : std::optional(time);
  }

  fs::path path_;
  std::optional<fs::file_time_type> before_;
  bool going_on_, keep_ = false;
};

json report_on(const TableModel& model, const Table& table, const std::vector<int64_t>& rows, double level) {
  return rows.empty() ? json() : model.evaluate(take_rows(table, rows), level);
}

/// The reports of evaluate; null without such rows.
struct HeldOut {
  json valid, test;
};

HeldOut held_out(const FitRequest& r, const TableModel& model, const Table& table, const Table* valid) {
  const SplitRows& split = model.split();
  return {valid ? model.evaluate(*valid, r.level) : report_on(model, table, split.valid, r.level),
          report_on(model, table, split.test, r.level)};
}

void print_outcome(const FitRequest& r, const TableModel& model, const HeldOut& reports, const Table* valid) {
  const SplitRows& split = model.split();
  const json& test = reports.test;
  if (!r.json) {
    print(fmt::format("{}: {}\n", r.model, model.fitted().summary().brief()));
    if (!test.is_null()) print("\ntest rows\n" + report_table(test, r.level));
    return;
  }
  json out = {{"method", model.method()},
              {"model", r.model},
              {"seed", r.seed},
              {"rows",
               {{"train", split.train.size()},
                {"valid", valid ? static_cast<size_t>(valid->rows) : split.valid.size()},
                {"test", split.test.size()}}},
              {"summary", to_json(model.fitted().summary())},
              {"options", model.options()}};
  out["summary"]["seconds"] = model.fitted().summary().seconds;
  if (const auto rows = split.calibration.size(); rows > 0) {
    out["rows"]["calibration"] = rows;
    out["calibration"] = r.calibrate;
  }
  if (!model.tuning().is_null()) out["tuning"] = model.tuning();
  if (!test.is_null()) out["test"] = test;
  if (!reports.valid.is_null()) out["valid"] = reports.valid;
  print(out);
}

void print_notes(const TableModel& model) {
  const Summary& summary = model.fitted().summary();
  for (const std::string& note : model.encoder().notes()) log_line("note: " + note);
  for (const std::string& note : summary.notes) log_line("note: " + note);
  const auto rank = model.options().find("rank");
  const auto rows = static_cast<int64_t>(model.split().train.size());
  if (rank != model.options().end() && rank->get<int64_t>() > rows) {
    log_line(fmt::format("note: rank {} is above the {} training rows: it is more than they can use",
                         rank->get<int64_t>(), rows));
  }
  if (summary.jitter > 0)
    log_line(
        fmt::format("note: a factorisation needed a jitter of {:.3g} of its mean diagonal", summary.jitter));
}

/// Too short a training is silent otherwise: the answers look calm and are those of no model.
void note_if_nothing_learnt(const json& valid) {
  if (!valid.contains("nll_constant")) return;
  const auto nll = valid["nll"].get<double>(), constant = valid["nll_constant"].get<double>();
  if (nll < constant) return;
  log_line(
      fmt::format("note: on the {} validation rows the NLL, {:.4g}, is no better than that of one answer for "
                  "every row, {:.4g}: more --steps or another --method may help, or the inputs say nothing",
                  valid["n"].get<int64_t>(), nll, constant));
}

}  // namespace

int run_command(const FitRequest& r) {
  check_not_input("fit", "--model", r.model, r.train);
  check_not_input("fit", "--model", r.model, r.valid);
  check_writable(r.model);
  const Table table = read_table(r.train);
  std::optional<Table> own;
  if (!r.valid.empty()) own = read_table(r.valid);
  const Table* valid = own ? &*own : nullptr;

  const std::string print_of_fit = fingerprint(r, table, valid);
  const fs::path path = r.model + ".ckpt";
  if (r.resume) {
    if (const auto model = finished(r.model, path, print_of_fit)) {
      log_line(fmt::format("{} is finished already; nothing to do", r.model));
      print_outcome(r, *model, held_out(r, *model, table, valid), valid);
      return kDone;
    }
  }
  CheckpointGuard checkpoint(path, r.resume);
  if (checkpoint.was_there() && !r.resume) {
    log_line(
        fmt::format("starting anew; {} of an unfinished fit will be overwritten (--resume goes on from it)",
                    path.string()));
  }
  InterruptGuard interrupt;
  TableModel model = [&] {
    ProgressPrinter progress(r.method);
    TableFit fit = table_fit(r.target, r.method, r.options, r.seed, r.rows);
    fit.calibrate = r.calibrate;
    fit.calibration_fraction = r.calibration_fraction;
    fit.level = r.level;
    fit.tune = r.tune;
    return fit_table(table, fit, valid, &progress, {path, r.resume, print_of_fit});
  }();
  print_notes(model);

  const bool stopped = model.interrupted();
  TensorFile file = model.to_file();
  if (!stopped) file.metadata[kFingerprint] = print_of_fit;
  write_tensor_file(r.model, file);
  stopped ? checkpoint.keep() : checkpoint.remove();
  if (stopped) {
    const bool goes_on = (find_method(r.method).resumable || !r.tune.empty()) && checkpoint.is_ours();
    log_line(
        fmt::format("interrupted; {} holds the best so far{}", r.model, goes_on ? ", --resume goes on" : ""));
    return kInterrupted;
  }
  const HeldOut reports = held_out(r, model, table, valid);
  note_if_nothing_learnt(reports.valid);
  print_outcome(r, model, reports, valid);
  return kDone;
}

}  // namespace slimbayes::cli
