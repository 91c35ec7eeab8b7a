// update and forget: change the posterior of a model by rows that it has not learned, or has learned, without
// a new training (Model::with, Model::without).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/file_lock.h"
#include "slimbayes/workflow/update_notes.h"

namespace slimbayes::cli {

int run_command(const UpdateRequest& r) {
  const char* command = r.forget ? "forget" : "update";
  const std::string out = r.out.empty() ? r.model : r.out;
  check(r.model != "-" && out != "-", command, "a file name for the model", "'-'",
        "a model is no text; name a file");
  check_model_first(command, r.model, r.data);
  check_not_input(command, "--out", out, r.data);
  std::error_code ignored;
  check(!r.shard || !std::filesystem::equivalent(out, r.model, ignored), command,
        "--out to be a file of its own with --shard", fmt::format("the model '{}'", r.model),
        "choose another name");
  check_replaces_model(command, "--out", out);
  check_writable(out);
  const FileLock lock(out);
  const Model model = Model::load(r.model);
  log_unfinished(model);
  std::vector<std::string> notes;
  Examples data = model.examples(read_for(model, r.data, data_source(), /*with_target=*/true, &notes), true);
  const int64_t given = count(data);
  if (r.on_unknown == "skip") data = model.learned_among(data);
  const int64_t left_out = given - count(data);
  check(r.duplicates || left_out == 0 || count(data) == 0, command,
        "rows that the model has learned, or --duplicates",
        fmt::format("{} of {} {}s with the cells of learned ones beside {} that it has not learned",
                    count(data), given, noun_of(data), left_out),
        fmt::format("a {0} is known by equal cells alone: if these {0}s were not learned either, equal ones "
                    "of others would be forgotten; give only learned ones, or --duplicates to forget these",
                    noun_of(data)));
  if (!model.knows_cells())
    notes.push_back(
        "this model file is of an earlier version and knows rows by their encoding alone: rows with unknown "
        "words or new categories may count as one; fit it again to tell them apart");
  if (left_out > 0)
    notes.push_back(
        fmt::format("{} of {} {}s were not learned and are left out", left_out, given, noun_of(data)));
  for (const std::string& note : notes) log_note(note);
  const size_t told = notes.size();
  const bool none = left_out > 0 && count(data) == 0;
  const Model changed = none       ? model
                        : r.forget ? model.without(data)
                        : r.shard  ? model.shard(data)
                                   : model.with(data);
  if (!r.forget) std::ranges::copy(update_notes(model, data), std::back_inserter(notes));
  const int64_t known = r.forget || r.shard ? 0 : model.known_rows(data);
  if (known > 0)
    notes.push_back(
        fmt::format("{} of {} {}s repeat one that was learned before, or another one of these; each counts",
                    known, count(data), noun_of(data)));
  const int64_t stay = r.forget && !none ? changed.learned_like(data) : 0;
  if (stay > 0)
    notes.push_back(
        fmt::format("{} with the same cells as these, learned too, {}: each is forgotten as often as it is "
                    "given",
                    counted(stay, noun_of(data)), stay == 1 ? "stays" : "stay"));
  for (size_t i = told; i < notes.size(); ++i) log_note(notes[i]);
  changed.save(out);
  const int64_t rows = changed.fitted().summary().rows;
  if (r.json) {
    nlohmann::json report = {{"model", out},
                             {"method", changed.method()},
                             {r.forget ? "forgotten" : "added", count(data)},
                             {"rows", rows},
                             {"notes", notes}};
    if (r.forget) {
      report["left_out"] = left_out;
      report["known_by"] = model.knows_cells() ? "cells" : "encoding";
      report["equal_rows_left"] = stay;
    }
    print(report);
  } else {
    print(fmt::format("{}: {} {}{}, {} in all\n", shown(out), r.forget ? "forgot" : "learned",
                      counted(count(data), noun_of(data)),
                      left_out > 0 && !none ? " known by equal cells alone" : "", rows));
  }
  return kDone;
}

}  // namespace slimbayes::cli
