#include "cli/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "cli/edge.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/serve/table_answers.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;

/// Larger files may take seconds, in which the engine shows how much is done.
constexpr uintmax_t kLargestFile = uintmax_t{1} << 20;

/// Whether the request has nothing that the engine alone does, as far as it can be seen without its files. A
/// file that keeps all digits has those of the engine, which are those of Python.
bool is_plain(const PredictRequest& r) {
  std::error_code unknown;
  const std::set<double> levels(r.levels.begin(), r.levels.end());
  return !keeps_all_digits(r.out) && r.keep.empty() && r.rename.empty() && r.fill.empty() && r.maps.empty() &&
         !r.keep_outside && !r.parts && levels.size() == r.levels.size() &&
         fs::is_regular_file(r.data, unknown) && fs::file_size(r.data, unknown) <= kLargestFile && !unknown;
}

/// What is written.
struct Answered {
  Table table;
  std::vector<std::string> notes;
};

std::optional<Answered> answered(const Request& request) {
  const auto& r = std::get<PredictRequest>(request.command);
  check_model_first("predict", r.model, r.data);
  if (r.out != "-") {
    check_not_input("predict", "--out", r.out, r.data);
    check_not_input("predict", "--out", r.out, r.model);
    check_writable(r.out);
  }
  const TensorFile file = read_tensor_file(r.model);
  check_model_kind(file, r.model);
  const ServedFile served = served_file(file);
  if (!served.parts_note) return {};  // a file of an older version, which may lack notes
  Reading reading = served.encoder.reading(/*with_target=*/false);
  reading.missing = served.missing;
  const Table table =
      served.encoder.as_trained(read_table(r.data, reading, {.memory = request.table_memory}));
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const int64_t threads = request.threads > 0 ? request.threads : cores;
  auto answers = table_answers(served, table, {r.levels, r.sets == "deterministic", threads});
  if (!answers) return {};
  Answered all{{"", std::move(answers->columns), table.rows}, served.encoder.notes_for(table)};
  if (served.interrupted) all.notes.insert(all.notes.begin(), kInterruptedNote);
  if (const auto far = outside(served.encoder, table); far && far->rows > 0)
    all.notes.push_back(outside_text(*far, table) + kOutsideHint);
  std::ranges::move(answers->notes, std::back_inserter(all.notes));
  return all;
}

}  // namespace
}  // namespace slimbayes::cli

int slimbayes_predict_rows(const slimbayes::cli::Request& request) {
  using namespace slimbayes::cli;
  const auto* asked = std::get_if<PredictRequest>(&request.command);
  const bool other_execution = std::getenv("SLIMBAYES_ENGINE") != nullptr;  // chosen by the user
  if (asked == nullptr || other_execution || !is_plain(*asked)) return kLeftToTheEngine;
  std::optional<Answered> all;
  try {
    all = answered(request);
  } catch (const std::exception&) {  // the engine says what is wrong
  }
  if (!all) return kLeftToTheEngine;
  return guarded([&] {
    print_or_write(asked->out, std::move(all->table), 0);
    for (const std::string& note : all->notes) log_line("note: " + note);
    return static_cast<int>(kDone);
  });
}
