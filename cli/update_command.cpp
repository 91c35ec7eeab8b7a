// update and forget: let a model learn more rows, or remove rows that it has learned, without a new training
// (Model::with, Model::without).
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/series/adaptive_state.h"
#include "slimbayes/model/update_notes.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/file_lock.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {

namespace {

/// Checks that the output file is not an input file, does not replace a file that is not a model, and can be
/// written. Throws std::invalid_argument or DataError otherwise.
void check_files(const char* command, const UpdateRequest& r, const std::string& out) {
  check(r.model != "-" && out != "-", command, "a file name for the model", "'-'",
        "a model is no text; name a file");
  check_model_first(command, r.model, r.data);
  check_not_input(command, "--out", out, r.data);
  std::error_code ignored;
  if (r.shard && std::filesystem::equivalent(out, r.model, ignored))
    refuse(command, "--out to be a file of its own with --shard",
           fmt::format("the model '{}'", foreign_text(r.model)), "choose another name");
  check_replaces_model(command, "--out", out);
  check_writable(out);
}

/// The rows to learn or to forget, and notes on them.
struct UpdateRows {
  Examples data;
  int64_t left_out = 0;            // rows that were to be forgotten but had not been learned
  std::vector<std::string> notes;  // notes that are known before the update

  bool none() const { return left_out > 0 && count(data) == 0; }  // whether no row is left to forget
};

/// Reads the rows to learn or to forget. With --on-unknown skip, leaves out rows that the model has not
/// learned. If only some rows are left then, throws std::invalid_argument unless --duplicates is given: a row
/// is recognised by equal cells alone, so forgetting it could remove an equal row of somebody else.
UpdateRows read_rows(const char* command, const UpdateRequest& r, const Model& model) {
  UpdateRows rows;
  rows.data = model.examples(read_for(model, r.data, data_source(), /*with_target=*/true, &rows.notes), true);
  const int64_t given = count(rows.data);
  if (r.on_unknown == "skip") rows.data = model.learned_among(rows.data);
  const char* noun = noun_of(rows.data);
  rows.left_out = given - count(rows.data);
  if (!r.duplicates && rows.left_out != 0 && count(rows.data) != 0)
    refuse(
        command, "rows that the model has learned, or --duplicates",
        fmt::format("{} of {} {}s with the cells of learned ones beside {} that it has not learned",
                    count(rows.data), given, noun, rows.left_out),
        fmt::format("a {0} is known by equal cells alone: if these {0}s were not learned either, equal ones "
                    "of others would be forgotten; give only learned ones, or --duplicates to forget these",
                    noun));
  if (rows.left_out > 0)
    rows.notes.push_back(
        fmt::format("{} of {} {}s were not learned and are left out", rows.left_out, given, noun));
  return rows;
}

/// Returns the notes on an update that are known when it is done. `model` is the model before the update.
/// `stay` is the number of learned rows that remain although their cells equal those of forgotten rows.
std::vector<std::string> notes_after(const UpdateRequest& r, const Model& model, const Examples& data,
                                     int64_t stay) {
  std::vector<std::string> notes;
  if (!r.forget) notes = update_notes(model, data);
  const int64_t known = r.forget || r.shard ? 0 : model.known_rows(data);
  if (known > 0)
    notes.push_back(
        fmt::format("{} of {} {}s repeat one that was learned before, or another one of these; each counts",
                    known, count(data), noun_of(data)));
  if (stay > 0)
    notes.push_back(
        fmt::format("{} with the same cells as these, learned too, {}: each is forgotten as often as it is "
                    "given",
                    counted(stay, noun_of(data)), stay == 1 ? "stays" : "stay"));
  return notes;
}

void print_update(const UpdateRequest& r, const std::string& out, const Model& changed,
                  const UpdateRows& rows, int64_t stay) {
  const int64_t learned = changed.fitted().summary().rows;
  const auto& adaptive = changed.parts().adaptive;
  if (!r.json && adaptive && !learns_rows(changed)) {
    print(fmt::format("{}: the intervals followed {}, {} in all\n", shown(out),
                      counted(count(rows.data), noun_of(rows.data)), adaptive->seen));
    return;
  }
  if (!r.json) {
    print(fmt::format("{}: {} {}{}, {} in all\n", shown(out), r.forget ? "forgot" : "learned",
                      counted(count(rows.data), noun_of(rows.data)),
                      rows.left_out > 0 && !rows.none() ? " known by equal cells alone" : "", learned));
    return;
  }
  nlohmann::json report = {{"model", out},
                           {"method", changed.method()},
                           {r.forget ? "forgotten" : "added", count(rows.data)},
                           {"rows", learned},
                           {"notes", rows.notes}};
  if (adaptive) report["followed"] = adaptive->seen;
  if (r.forget) {
    report["left_out"] = rows.left_out;
    report["equal_rows_left"] = stay;
  }
  print(report);
}

}  // namespace

int run_command(const UpdateRequest& r) {
  const char* command = r.forget ? "forget" : "update";
  const std::string out = r.out.empty() ? r.model : r.out;
  check_files(command, r, out);
  const FileLock lock(out);
  const Model model = load_model(command, r.model);
  log_interrupted(model);
  UpdateRows rows = read_rows(command, r, model);
  for (const std::string& note : rows.notes) log_note(note);
  const Model changed = rows.none() ? model
                        : r.forget  ? model.without(rows.data)
                        : r.shard   ? model.shard(rows.data)
                                    : model.with(rows.data);
  const int64_t stay = r.forget && !rows.none() ? changed.learned_like(rows.data) : 0;
  for (const std::string& note : notes_after(r, model, rows.data, stay)) {
    log_note(note);
    rows.notes.push_back(note);
  }
  changed.save(out);
  print_update(r, out, changed, rows, stay);
  return kDone;
}

}  // namespace slimbayes::cli
