// fit: a table to a model file. The checkpoint and the finished model carry a fingerprint of everything that
// decides the result, so that --resume can tell "go on", "already done" and "another fit" apart. An
// interrupted fit's model has none: it is usable, not finished. The model is written last: whatever may fail comes before,
// and leaves the older file. A lock keeps other processes from the same model and its checkpoint.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/fit_report.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/data/target.h"
#include "slimbayes/methods/fit_notes.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/file_lock.h"
#include "slimbayes/train/checkpoint.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFingerprint = "fingerprint";

/// What decides the result, by the names that a refused --resume gives them.
std::string fingerprint(const FitRequest& r, const json& options, const Table& train, const Table* valid) {
  const json all = {{"table", table_hash(train)},
                    {"validation table", valid ? table_hash(*valid) : ""},
                    {"target", r.target},
                    {"method", r.method},
                    {"options", options},
                    {"seed", r.seed},
                    {"split", {r.rows.split_seed, r.rows.valid_fraction, r.rows.test_fraction, r.rows.split}},
                    {"scaling", {r.rows.scale, r.rows.scale_on}},
                    {"calibration", {r.calibrate, r.calibration_fraction}},
                    {"tuning", r.tune},
                    {"noise folds", r.rows.noise_folds},
                    {"ignored columns", r.rows.ignore},
                    {"likelihood", {name_of(r.rows.likelihood), r.rows.domain}},
                    {"threads", at::get_num_threads()}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The method that the target's task calls for where none was named, and what it has to tune.
FitRequest with_method(FitRequest r, const Table& table) {
  if (r.named) return r;
  const TaskKind task = task_kind(table, r.target, r.rows.likelihood);
  const MethodInfo& info = default_method(task);
  r.method = info.name;
  if (!r.tune.empty()) r.tune = tunable_options(info, r.given);
  return r;
}

/// The columns as the training table has them: the rows of another file need not show their kinds. One that does not vary
/// is no input.
Reading alike(const Table& table, const SplitRequest& rows) {
  Reading reading{{}, rows.categorical, rows.ignore, false};
  for (const Column& column : table.columns) {
    const auto present = [](double x) { return !std::isnan(x); };
    const auto first = std::ranges::find_if(column.values, present);
    const bool varies =
        std::any_of(first, column.values.end(), [&](double x) { return present(x) && x != *first; });
    if (varies && std::ranges::find(rows.ignore, column.name) == rows.ignore.end())
      reading.kinds[column.name] = column.kind;
  }
  return reading;
}

/// The model that a finished fit of this fingerprint left, if it did. Throws for that of another fit.
std::optional<TableModel> finished(const fs::path& path, const fs::path& checkpoint,
                                   const std::string& fingerprint) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::exists(checkpoint, ignored)) return std::nullopt;
  const TensorFile file = read_tensor_file(path);
  const auto found = file.metadata.find(kFingerprint);
  if (found == file.metadata.end()) return std::nullopt;  // an interrupted fit's
  check_fingerprint(found->second, fingerprint,
                    fmt::format("'{}' to be the finished model of this fit, for --resume", path.string()),
                    "leave --resume out to fit anew, or name another --model");
  return TableModel::from_file(file, path.string());
}

std::optional<fs::file_time_type> stamp(const fs::path& path) {
  std::error_code failed;
  const auto time = fs::last_write_time(path, failed);
  return failed ? std::nullopt : std::optional(time);
}

/// Knows whether a training has begun: it asks before every step whether to stop.
class FitProgress : public ProgressPrinter {
 public:
  using ProgressPrinter::ProgressPrinter;
  bool stop() override {
    began_ = true;
    return ProgressPrinter::stop();
  }
  bool began() const { return began_; }

 private:
  bool began_ = false;
};

/// "m.safetensors is left as it was", "no model is written".
std::string untouched(const std::string& model) {
  std::error_code absent;
  return fs::exists(model, absent) ? model + " is left as it was" : "no model is written";
}

/// A fit that fails keeps its checkpoint and says so, unless the arguments were invalid and no training began. One that was
/// stopped early may fail in what it computes from parameters that nothing has chosen: then it was interrupted.
TableModel fitted(const std::function<TableModel(FitProgress&)>& fit, const FitRequest& r,
                  const fs::path& checkpoint, std::optional<fs::file_time_type> before) {
  FitProgress progress(r.method);
  const auto made = [&] { return stamp(checkpoint) != before; };
  try {
    return fit(progress);
  } catch (const std::exception& error) {
    const bool invalid = dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    if (invalid && !progress.began()) {
      if (made() && !(r.resume && before)) remove_checkpoint(checkpoint);
      throw;
    }
    if (InterruptGuard::interrupted())
      throw Interrupted(fmt::format("the fit was interrupted before anything was validated: {}{}",
                                    untouched(r.model), made() ? ", --resume goes on" : ""));
    if (made()) log_line(fmt::format("{} is kept: --resume goes on from it", checkpoint.string()));
    throw;
  }
}

/// A checkpoint beside a private model is as private: what the old model denies to others, new files of this process deny.
void deny_as(const fs::path& model) {
  struct stat info {};
  if (::stat(model.c_str(), &info) != 0) return;
  const mode_t mask = ::umask(077);
  ::umask(mask | (~info.st_mode & 077));
}

/// What comes after the training costs no checkpoint when it fails.
void keeping_checkpoint(const fs::path& checkpoint, const std::function<void()>& finish) {
  try {
    finish();
  } catch (...) {
    if (stamp(checkpoint)) log_line(fmt::format("{} is kept: --resume goes on from it", checkpoint.string()));
    throw;
  }
}

/// Whether an interrupted fit's model may be written: where a validation chose its parameters. Without validation rows nothing
/// says whether it is better than an older one, which then stays.
bool is_founded(const TableModel& model, const fs::path& path) {
  const Summary& summary = model.fitted().summary();
  std::error_code absent;
  const bool replaces_none = summary.valid_rows == 0 && !fs::exists(path, absent);
  return summary.stopped != "interrupted" ||
         (summary.steps > 0 && (std::isfinite(summary.best_score) || replaces_none));
}

struct HeldOut {
  json valid, test;
};

HeldOut held_out(const FitRequest& r, const TableModel& model, const Table& table, const Table* valid) {
  const SplitRows& split = model.split();
  return {report_on(model, valid ? *valid : take_rows(table, split.valid), r.level),
          report_on(model, take_rows(table, split.test), r.level)};
}

void print_outcome(const FitRequest& r, const TableModel& model, const HeldOut& reports, const Table* valid,
                   const std::vector<std::string>& notes) {
  const SplitRows& split = model.split();
  const json& test = reports.test;
  if (!r.json) {
    print(fitted_to(STDOUT_FILENO, fmt::format("{}: {}\n{}", shown(r.model), model.fitted().summary().brief(),
                                               choices_text(model, r.level))));
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
              {"options", model.options()},
              {"notes", notes}};
  out["summary"]["seconds"] = model.fitted().summary().seconds;
  if (const auto rows = split.calibration.size(); rows > 0) {
    out["rows"]["calibration"] = rows;
    out["calibration"] = r.calibrate;
  }
  out.update(choices_json(model, r.level));
  if (!model.noise().empty()) out["noise"] = to_json(model.noise());
  if (!test.is_null()) out["test"] = test;
  if (!reports.valid.is_null()) out["valid"] = reports.valid;
  print(out);
}

/// Of the table, then of the fit.
std::vector<std::string> notes_of(const FitRequest& r, const TableModel& model, const json& valid,
                                  std::vector<std::string> notes) {
  const TaskKind task = model.encoder().schema().task.kind;
  if (!r.named && task != TaskKind::regression)
    notes.push_back(fmt::format("{} by {}; --method chooses another", name_of(task), r.method));
  std::ranges::copy(fit_notes(model, valid), std::back_inserter(notes));
  return notes;
}

void log_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) log_note(note);
}

}  // namespace

int run_command(const FitRequest& request) {
  FitRequest r = request;
  const fs::path path = r.model + ".ckpt";
  check(r.model != "-", "fit", "a file name for --model", "'-'", "a model is no text; name a file");
  check_not_input("fit", "--model", r.model, r.train);
  check_not_input("fit", "--model", r.model, r.valid);
  check_writable(r.model);
  check_writable(path);
  deny_as(r.model);
  InterruptGuard interrupt;  // before the lock, which a killed process leaves behind
  const FileLock lock(r.model);
  std::vector<std::string> read_notes;
  const Table table = read_training(r.train, r.target, r.rows, &read_notes);
  r = with_method(std::move(r), table);
  const json options = preset_options(find_method(r.method), r.preset, r.given);
  std::optional<Table> own;
  if (!r.valid.empty()) own = read_rows(r.valid, alike(table, r.rows), r.target);
  const Table* valid = own ? &*own : nullptr;

  const std::string print_of_fit = fingerprint(r, options, table, valid);
  if (r.resume) {
    if (const auto model = finished(r.model, path, print_of_fit)) {
      log_line(fmt::format("{} is finished already; nothing to do", r.model));
      const HeldOut reports = held_out(r, *model, table, valid);
      print_outcome(r, *model, reports, valid, notes_of(r, *model, reports.valid, read_notes));
      return kDone;
    }
  }
  const auto before = stamp(path);
  if (before.has_value() != r.resume) {
    log_line(r.resume
                 ? fmt::format("no checkpoint '{}' to go on from: starting anew", path.string())
                 : fmt::format("starting anew; {} of an unfinished fit will be overwritten (--resume goes on "
                               "from it)",
                               path.string()));
  }
  if (!lock.held()) log_note("this file system has no locks: let no second fit write the same --model");
  log_notes(read_notes);
  const auto fit_it = [&](FitProgress& progress) {
    TableFit fit = table_fit(r.target, r.method, options, r.seed, r.rows);
    fit.calibrate = r.calibrate;
    fit.calibration_fraction = r.calibration_fraction;
    fit.level = r.level;
    fit.tune = r.tune;
    return fit_table(table, fit, valid, &progress, {path, r.resume, print_of_fit, r.checkpoint_every});
  };
  const TableModel model = fitted(fit_it, r, path, before);
  const bool goes_on = stamp(path) && (r.resume || stamp(path) != before);
  const std::string advice = goes_on ? ", --resume goes on" : "";
  if (model.interrupted() && !is_founded(model, r.model)) {
    log_line(fmt::format("interrupted before anything was validated: {}{}", untouched(r.model), advice));
    return kInterrupted;
  }
  HeldOut reports;
  const auto finish = [&] {  // all that may fail, then the write
    if (!model.interrupted()) reports = held_out(r, model, table, valid);
    TensorFile file = model.to_file();
    if (!model.interrupted()) file.metadata[kFingerprint] = print_of_fit;
    write_tensor_file(r.model, file);
  };
  keeping_checkpoint(path, finish);
  const std::vector<std::string> notes =
      notes_of(r, model, reports.valid, read_notes);
  log_notes(notes);
  if (model.interrupted()) {
    log_line(fmt::format("interrupted; {} holds the best so far{}", r.model, advice));
    return kInterrupted;
  }
  remove_checkpoint(path);
  print_outcome(r, model, reports, valid, notes);
  return kDone;
}

}  // namespace slimbayes::cli
