#include "slimbayes/fit/fit_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target_cells.h"
#include "slimbayes/fit/parallel.h"
#include "slimbayes/model/calibration/group_notes.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns a note if the method's rank (the option with OptionDoc::at_most_rows) exceeds the number of
/// training rows, else "". Only a default rank can: a fit refuses such a rank from the user.
std::string too_large_a_rank(const Model& model, std::string_view noun) {
  const auto rows = train_rows(model.split());
  for (const OptionDoc& doc : options_of(find_method(model.method()), model.options())) {
    const int64_t rank = doc.at_most_rows ? model.options().value(doc.name, int64_t{0}) : 0;
    if (rank > rows)
      return fmt::format("{} {} is above the {} training {}s: it is more than they can use", doc.name, rank,
                         rows, noun);
  }
  return "";
}

/// Returns a note that conformal intervals or sets count groups of identical inputs instead of examples; ""
/// if no calibration examples have identical inputs.
std::string few_groups(const Model& model, std::string_view noun) {
  const ConformalScores& calibration = model.calibration();
  const bool classes = model.schema().task.kind == TaskKind::classification;
  const int64_t rows = calibration.groups > 0 ? calibration.value.size(0) : 0;
  if (calibration.groups == rows) return "";
  return fmt::format(
      "the {} rest on {} groups of identical inputs ({} calibration {}s), which count once each",
      classes ? "sets" : "intervals", calibration.groups, rows, noun);
}

}  // namespace

std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split) {
  std::vector<std::string> notes = split.notes;
  if (!split.network_note.empty()) notes.push_back(split.network_note);
  std::ranges::copy(notes_of(encoder), std::back_inserter(notes));
  return notes;
}

std::string wild_rows_note(const Table& table, const std::string& target, const std::vector<int64_t>& rows) {
  constexpr size_t kNamed = 5;
  if (rows.empty()) return "";
  const Column& column = target_column(table, target);
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(kNamed, rows.size()); ++i)
    named.push_back(fmt::format("{} in {}",
                                foreign_text(cell_text(column, target_in(table, column, rows[i]))),
                                row_place(table, rows[i])));
  if (rows.size() > kNamed) named.push_back("...");
  return fmt::format(
      "the target {} is more than five sd from what the other rows predict in {}: {}; look whether it is "
      "right: wrong cells move the mean and widen the intervals",
      in_quotes(target), counted(std::ssize(rows), "row"), fmt::join(named, ", "));
}

std::string device_note(const ResolvedFit& request) {
  if (!request.targets.empty()) return "";
  if (request.device.is_cpu()) return no_gpu_note(request.fit.device, request.device);
  return request.inner->device
             ? ""
             : fmt::format("{} computes on the CPU; `.device` has no effect", request.inner->name);
}

std::vector<std::string> fit_notes(const Model& model, const std::optional<Evaluation>& valid,
                                   const std::optional<Evaluation>& test, double level) {
  const Summary& summary = model.fitted().summary();
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  std::vector<HeldOut> parts;
  if (valid) parts.push_back({*valid, fmt::format("validation {}s", noun), level});
  if (test) parts.push_back({*test, fmt::format("test {}s", noun), level});
  std::vector<std::string> notes = trust_notes(model, parts);
  std::ranges::copy(model.noise().notes, std::back_inserter(notes));
  std::ranges::copy(notes_before_training(model.encoder(), model.split()), std::back_inserter(notes));
  notes.push_back(few_groups(model, noun));
  notes.push_back(shared_groups_note(model, level));
  std::ranges::copy(summary.notes, std::back_inserter(notes));
  if (const auto& tuning = model.tuning(); tuning && tuning->untried)
    notes.push_back(fmt::format("the time limit left {} of {} combinations untried", *tuning->untried,
                                tuning->combinations.value_or(0)));
  notes.push_back(too_large_a_rank(model, noun));
  if (summary.jitter > 0)
    notes.push_back(
        fmt::format("a factorisation needed a jitter of {:.3g} of its mean diagonal", summary.jitter));
  std::erase(notes, "");
  return notes;
}

}  // namespace slimbayes
