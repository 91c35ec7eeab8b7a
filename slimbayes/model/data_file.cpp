#include "slimbayes/model/data_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/data/table/table_parts.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

using Words = std::vector<std::string>;

/// Returns the format of the images in this file, such as "idx", or "" if the file is a table. `asked` is
/// FitOptions::format; if it is "auto", the file decides.
std::string format_at(const std::string& path, const std::string& asked) {
  if (asked == "table") return "";
  return asked == "auto" ? format_of(path) : asked;
}

/// Reads images from a file. Throws std::invalid_argument for the path "-": standard input can only be a
/// table.
Images images_at(const std::string& path, const std::string& format, const TableLimits& limits,
                 bool with_labels = true) {
  check(path != "-", "read", "a file of images", "'-'", "standard input is for tables (CSV); name the file");
  return read_images(path, format, limits, with_labels);
}

/// Returns the table without the rows whose target is missing, and adds a sentence on them to `notes` (may be
/// nullptr). Returns the table unchanged if `target` is "".
Table with_known_target(Table table, const std::string& target, Words* notes) {
  if (target.empty()) return table;
  const int64_t all = table.rows;
  table = with_target(std::move(table), target);
  if (table.rows < all && notes != nullptr)
    notes->push_back(fmt::format(
        "{} of {} {} no {} (an empty cell, NA, None, null, ? or a text of `.na`): left out", all - table.rows,
        counted(all, "row"), all - table.rows == 1 ? "has" : "have", in_quotes(target)));
  return table;
}

/// Returns the table without the rows in which every one of several targets is missing, and adds a sentence
/// on them to `notes` (may be nullptr). Names that are no columns are passed over.
Table with_a_target(Table table, const Words& targets, Words* notes) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < table.rows; ++row) {
    const bool any = std::ranges::any_of(targets, [&](const std::string& name) {
      const Column* column = table.find(name);
      return column != nullptr && !std::isnan(column->values[static_cast<size_t>(row)]);
    });
    if (any) rows.push_back(row);
  }
  if (std::ssize(rows) == table.rows || rows.empty()) return table;
  if (notes != nullptr)
    notes->push_back(fmt::format("{} of {} without any of the targets: left out",
                                 table.rows - std::ssize(rows), counted(table.rows, "row")));
  return take_rows(table, rows);
}

/// Returns the table without the rows that a fit of its targets cannot use.
Table with_targets(Table table, const FitOptions& o, Words* notes) {
  const Words targets = targets_of(o, table);
  return targets.size() > 1 ? with_a_target(std::move(table), targets, notes)
                            : with_known_target(std::move(table), o.target, notes);
}

/// Returns the columns that the model reads, its target included.
Words columns_of(const Model& model) {
  const Reading reading = model.reading(/*with_target=*/true);
  Words names = reading.names;
  for (const auto& [name, kind] : reading.kinds) names.push_back(name);
  if (!model.target().empty()) names.push_back(model.target());
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Returns how to read a further table so that its columns have the same kinds as those of the training table
/// `table`. Columns that do not vary in `table` are left out, because they are not inputs.
Reading alike(const Table& table, const FitOptions& options) {
  Reading reading{{}, options.categorical, options.ignore, false};
  const std::vector<std::string> ignored = ignored_columns(options);
  for (const Column& column : table.columns) {
    const auto present = [](double x) { return !std::isnan(x); };
    const auto first = std::ranges::find_if(column.values, present);
    const bool varies =
        std::any_of(first, column.values.end(), [&](double x) { return present(x) && x != *first; });
    if (varies && std::ranges::find(ignored, column.name) == ignored.end())
      reading.kinds[column.name] = column.kind;
  }
  if (!options.text.empty()) {
    reading.kinds.erase(options.text);
    reading.names.push_back(options.text);
  }
  add_weights(reading, options);
  reading.missing = marks_of(options);
  reading.notation = notation_of(options);
  return reading;
}

/// Throws std::invalid_argument if the notation of `o` hides the numbers of the target, which are plain ones
/// (0.5 under a decimal comma). Adds a note if it makes categories of such inputs.
void check_spelling(const Table& table, const FitOptions& o, Words* notes) {
  const Notation notation = notation_of(o);
  if (notation.plain_numbers()) return;
  const bool classes = o.likelihood == LikelihoodKind::bernoulli || o.likelihood == LikelihoodKind::softmax;
  Words names = perhaps_named(o.ignore);
  std::ranges::copy(perhaps_named(o.categorical), std::back_inserter(names));
  if (classes) names.push_back(o.target);
  Words hidden;
  std::string example;
  for (const Column& column : table.columns) {
    if (std::ranges::find(names, column.name) != names.end() || column.name == o.text) continue;
    const std::string lost = lost_number(column.levels, notation);
    if (lost.empty()) continue;
    if (column.name == o.target)
      refuse("fit",
             fmt::format("{} in the target {}, by {}", numbers_text(notation), in_quotes(o.target),
                         options_text(notation)),
             in_quotes(lost),
             "leave these options out if the file spells its numbers so; else spell them all "
             "as the options say");
    if (example.empty()) example = lost;
    hidden.push_back(in_quotes(column.name));
  }
  constexpr size_t kNamed = 5;
  const size_t more = hidden.size() - std::min(kNamed, hidden.size());
  if (more > 0) hidden.resize(kNamed);
  if (notes != nullptr && !hidden.empty())
    notes->push_back(fmt::format(
        "{} {}{}: by {}, cells such as {} are no numbers, so they name categories; leave these options out "
        "if the file spells its numbers so",
        hidden.size() > 1 ? "columns" : "column", fmt::join(hidden, ", "),
        more > 0 ? fmt::format(" and {} more", more) : "", options_text(notation), in_quotes(example)));
}

}  // namespace

DataSource DataSource::files(const TableLimits& limits) {
  return {
      [limits](const std::string& path, const Reading& reading) { return read_table(path, reading, limits); },
      limits};
}

Words perhaps_named(const Words& lists) {
  Words names = lists;
  for (const std::string& list : lists) std::ranges::copy(split_list(list), std::back_inserter(names));
  return names;
}

Words columns_named(const Words& lists, const std::string& command, const std::string& flag,
                    const Table& table) {
  Words names;
  for (const std::string& list : lists) {
    for (const std::string& name : table.find(list) ? Words{list} : split_list(list)) {
      if (!table.find(name))
        refuse(command, fmt::format("columns of the table for {}", flag), in_quotes(name),
               nearest_hint(name, table.names()));
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Reading training_reading(const FitOptions& o) {
  Reading reading{{}, perhaps_named(o.categorical), perhaps_named(o.ignore), true};
  if (!o.text.empty()) reading.names.push_back(o.text);
  add_weights(reading, o);
  reading.missing = marks_of(o);
  reading.notation = notation_of(o);
  using enum LikelihoodKind;
  const auto task = o.likelihood ? std::optional(task_of(*o.likelihood)) : std::nullopt;
  if (task == TaskKind::regression || task == TaskKind::counts) reading.numbers = perhaps_named({o.target});
  if (o.likelihood == bernoulli || o.likelihood == softmax) reading.labels = perhaps_named({o.target});
  return reading;
}

void name_columns(FitOptions& o, const Table& table) {
  for (const auto& [list, flag] : {std::pair{&FitOptions::ignore, "`.ignore`"},
                                   {&FitOptions::categorical, "`.categorical`"},
                                   {&FitOptions::time, "`.time`"},
                                   {&FitOptions::group, "`.group`"}})
    o.*list = columns_named(o.*list, "fit", flag, table);
}

Examples read_training(const std::string& path, FitOptions& o, const DataSource& from, Words* notes) {
  if (const std::string format = format_at(path, o.format); !format.empty()) {
    o.format = format;
    return examples_of(images_at(path, format, from.limits), o);
  }
  Table table = from.read(path, training_reading(o));
  if (std::string note = partition_note(table.parts); notes != nullptr && !note.empty())
    notes->push_back(std::move(note));
  if (notes != nullptr && !o.date_format.empty() &&
      std::ranges::find(table.columns, ColumnKind::datetime, &Column::kind) == table.columns.end())
    notes->push_back(
        fmt::format("no column has dates of the format {} (`.date_format`)", in_quotes(o.date_format)));
  check_spelling(table, o, notes);
  const bool series = input_kind(o) == InputKind::windows;
  if (!series) table = with_targets(std::move(table), o, notes);
  name_columns(o, table);
  if (targets_of(o, table).size() > 1) return table;  // fit_joint checks them
  return examples_of(std::move(table), o);
}

Examples read_validation(const std::string& path, const Examples& training, const FitOptions& o,
                         const DataSource& from, Words* notes) {
  if (std::holds_alternative<Images>(training)) return images_at(path, o.format, from.limits);
  const auto* windows = std::get_if<WindowTable>(&training);
  const Table& table = windows ? *windows->table : std::get<Table>(training);
  Table valid = from.read(path, alike(table, o));
  return windows ? std::move(valid) : with_targets(std::move(valid), o, notes);
}

Examples read_for(const Model& model, const std::string& path, const DataSource& from, bool with_target,
                  Words* notes, const Words& kept, const ColumnChanges& changes, SharedChanges* shared) {
  const InputKind kind = kind_of(model.encoder());
  const std::string asked = model.fit_options().format;
  const bool images = are_images(kind);
  const std::string found = format_of(path);
  check(!images || changes.empty(), "read", "no `.rename` and `.fill` with images, which have no columns",
        changes.renamed.empty() ? "`.fill`" : "`.rename`", "leave it out");
  if (images)
    return model.examples(images_at(path, found.empty() ? asked : found, from.limits, with_target),
                          with_target);
  if (!found.empty() && asked != "table")
    refuse("read", "a table, as this model was fitted on", fmt::format("images, '{}'", foreign_text(path)),
           "give a table; one with idx3 in its name needs another name");
  check_columns_of_model(changes, columns_of(model));
  Reading reading = model.reading(with_target);
  reading.kept = kept;
  Table table = from.read(path, before_changes(reading, changes));
  ColumnChanges here = changes;
  // If two files share the changes, a rename applies only to a file that does not have the new name already.
  // The table was read as if all renames applied. If fewer do, the kinds of its columns may be wrong, so it
  // is read again; standard input cannot be read twice.
  if (shared != nullptr) here = where_absent(table, changes);
  if (here.renamed.size() < changes.renamed.size() && path != "-")
    table = from.read(path, before_changes(reading, here));
  ColumnChanges unneeded_here = unneeded(table, here);
  for (const auto& pair : changes.renamed) {
    if (!here.renamed.contains(pair.first)) unneeded_here.renamed.insert(pair);
  }
  if (shared != nullptr) shared->unneeded = common(shared->unneeded, unneeded_here);
  if (shared == nullptr)
    check_needed(unneeded_here, table, /*others=*/false);
  else if (--shared->files_left == 0)
    check_needed(shared->unneeded, table, /*others=*/true);
  table = with_changes(std::move(table), here, model.reading(/*with_target=*/true));
  return examples_for(model, std::move(table), with_target, notes);
}

Table read_for(const JointModel& model, const std::string& path, const DataSource& from, bool with_targets,
               Words* notes, const Words& kept) {
  Reading reading = model.reading(with_targets);
  reading.kept = kept;
  Table table = from.read(path, reading);
  return with_targets ? with_a_target(std::move(table), model.targets(), notes) : table;
}

Examples examples_for(const Model& model, Table table, bool with_target, Words* notes) {
  if (with_target && kind_of(model.encoder()) != InputKind::windows)
    table = with_known_target(std::move(table), model.target(), notes);
  return model.examples(std::move(table), with_target);
}

}  // namespace slimbayes
