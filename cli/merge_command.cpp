// merge: joins models that share one trained network and have learned different rows into one model that has
// learned all of these rows (Model::merged).
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/file_lock.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {

int run_command(const MergeRequest& r) {
  check(r.out != "-", "merge", "a file name for the model", "'-'", "a model is no text; name a file");
  for (auto one = r.models.begin(); one != r.models.end(); ++one)
    if (std::find(r.models.begin(), one, *one) != one)
      refuse("merge", "each model once", fmt::format("'{}' twice", foreign_text(*one)),
             "its rows would count twice");
  check_replaces_model("merge", "--out", r.out);
  check_writable(r.out);
  const FileLock lock(r.out);
  Model merged = load_model("merge", r.models.front());
  log_interrupted(merged);
  const std::string_view noun = noun_of(kind_of(merged.encoder()));
  std::vector<std::string> notes;
  for (size_t i = 1; i < r.models.size(); ++i) {
    const Model next = load_model("merge", r.models[i]);
    log_interrupted(next);
    const int64_t shared = merged.shared_rows(next);
    merged = merged.merged(next);
    if (shared > 0)
      notes.push_back(fmt::format("{} {}s of '{}' are in a model before it, too, and count twice", shared,
                                  noun, foreign_text(r.models[i])));
  }
  for (const std::string& note : notes) log_note(note);
  merged.save(r.out);
  const int64_t rows = merged.fitted().summary().rows;
  if (r.json)
    print(nlohmann::json{{"model", r.out},
                         {"method", merged.method()},
                         {"models", r.models.size()},
                         {"rows", rows},
                         {"notes", notes}});
  else
    print(fmt::format("{}: {} models, {} {}s in all\n", shown(r.out), r.models.size(), rows, noun));
  return kDone;
}

}  // namespace slimbayes::cli
