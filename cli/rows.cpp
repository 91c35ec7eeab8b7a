#include "cli/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "cli/edge.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/serve/forecast_columns.h"
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
         !r.keep_outside && !r.parts && r.draws == 0 && !r.region && r.probability.empty() &&
         r.quantiles.empty() && r.split.empty() && (!r.json || r.out == "-") && r.files.size() == 1 &&
         levels.size() == r.levels.size() && fs::is_regular_file(r.data, unknown) &&
         fs::file_size(r.data, unknown) <= kLargestFile && !unknown;
}

/// What is written.
struct Answered {
  TaskKind task;
  Table table;
  size_t exact = 0;  // columns, the first ones, that are written as they were given
  std::vector<std::string> notes;
};

Reading reading_of(const ServedEncoder& encoder) {
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) return windows->reading();
  if (const auto* texts = std::get_if<TextEncoder>(&encoder)) return texts->reading(/*with_target=*/false);
  return std::get<Encoder>(encoder).reading(/*with_target=*/false);
}

/// The notes on what was given, as the engine writes them.
std::vector<std::string> notes_on(const ServedEncoder& encoder, const ServedInputs& inputs) {
  std::vector<std::string> notes;
  if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) {
    const auto& given = std::get<WindowTable>(inputs);
    notes = given.windows->notes;
    std::ranges::move(windows->notes_for(*given.table, *given.windows), std::back_inserter(notes));
    return notes;
  }
  const auto& table = std::get<Table>(inputs);
  if (const auto* texts = std::get_if<TextEncoder>(&encoder)) return texts->notes_for(table);
  const auto& rows = std::get<Encoder>(encoder);
  notes = rows.notes_for(table);
  if (const auto far = outside(rows, table); far && far->rows > 0)
    notes.push_back(outside_text(*far, table) + kOutsideHint);
  return notes;
}

/// The table that is written: of windows the columns of each forecast come before the answer.
Table table_of(const ServedFile& served, const ServedInputs& inputs, std::vector<Column> answer) {
  const auto* windows = std::get_if<WindowTable>(&inputs);
  if (windows == nullptr) return {"", std::move(answer), std::get<Table>(inputs).rows};
  std::vector<int64_t> last;
  for (int64_t i = 0; i < std::ssize(windows->selected); ++i) last.push_back(last_row(*windows, i));
  Table all{"",
            forecast_columns(*windows, take_rows(*windows->table, last), target_of(served.encoder),
                             schema_of(served.encoder).task),
            std::ssize(last)};
  for (const std::string& group : windows->windows->options.group)
    if (is_forecast_name(group) || std::ranges::find(answer, group, &Column::name) != answer.end())
      throw std::invalid_argument("a name twice");  // the engine says which
  std::ranges::move(answer, std::back_inserter(all.columns));
  return all;
}

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
  Reading reading = reading_of(served.encoder);
  reading.missing = served.missing;
  reading.notation = served.notation;
  const ServedInputs inputs =
      served_inputs(served.encoder, read_table(r.data, reading, {.memory = request.table_memory}));
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const int64_t threads = request.threads > 0 ? request.threads : cores;
  auto answers = table_answers(served, inputs, {r.levels, r.sets == "deterministic", threads});
  if (!answers) return {};
  const size_t own = answers->columns.size();
  Answered all{schema_of(served.encoder).task.kind, table_of(served, inputs, std::move(answers->columns)), 0,
               notes_on(served.encoder, inputs)};
  all.exact = all.table.columns.size() - own;
  if (served.interrupted) all.notes.insert(all.notes.begin(), kInterruptedNote);
  std::ranges::move(answers->notes, std::back_inserter(all.notes));
  return all;
}

}  // namespace
}  // namespace slimbayes::cli

int slimbayes_predict_rows(const slimbayes::cli::Request& request) {
  using namespace slimbayes::cli;
  const auto* asked = std::get_if<PredictRequest>(&request.command);
  const bool other_execution = std::getenv("SLIMBAYES_ENGINE") != nullptr;  // chosen by the user
  if (asked == nullptr || other_execution || request.device != "cpu" || !is_plain(*asked))
    return kLeftToTheEngine;
  std::optional<Answered> all;
  try {
    all = answered(request);
  } catch (const std::exception&) {  // the engine says what is wrong
  }
  if (!all) return kLeftToTheEngine;
  return guarded([&] {
    if (asked->json)
      print_rows({.task = std::string(name_of(all->task)), .levels = asked->levels}, std::move(all->table),
                 all->exact);
    else
      print_or_write(asked->out, std::move(all->table), all->exact);
    for (const std::string& note : all->notes) log_line("note: " + note);
    return static_cast<int>(kDone);
  });
}
