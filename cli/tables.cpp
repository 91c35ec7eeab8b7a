// The tables of the command line: from a file or stdin, columns by name, rows with a target.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/commands.h"
#include "cli/progress.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/data/table_csv.h"
#include "slimbayes/data/target.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

using Words = std::vector<std::string>;

TableLimits limits_of_tables;

std::string read_stdin(const TableBound& bound) {
  std::string text;
  std::array<char, 1 << 16> block;
  while (const size_t got = std::fread(block.data(), 1, block.size(), stdin)) {
    text.append(block.data(), got);
    bound.check(2 * text.size(), "stdin");  // its cells take as much again
  }
  if (std::ferror(stdin) != 0) throw DataError("stdin", "expected CSV; received a read error; try a file");
  return text;
}

Words split_at_commas(const std::string& list) {
  Words parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    parts.emplace_back(trimmed(std::string_view(list).substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

}  // namespace

Words perhaps_named(const Words& lists) {
  Words names = lists;
  for (const std::string& list : lists) std::ranges::copy(split_at_commas(list), std::back_inserter(names));
  return names;
}

Words columns_named(const Words& lists, const std::string& command, const std::string& flag,
                    const Table& table) {
  Words names;
  for (const std::string& list : lists) {
    for (const std::string& name : table.find(list) ? Words{list} : split_at_commas(list)) {
      check(table.find(name), command, fmt::format("columns of the table for {}", flag), in_quotes(name),
            nearest_hint(name, table.names()));
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

void limit_tables(const TableLimits& limits) { limits_of_tables = limits; }

Table read_rows(const std::string& path, const Reading& reading, const std::string& target, Words* notes) {
  const auto from_stdin = [&] {
    const TableBound bound = TableBound::of(limits_of_tables, 0);
    return parse_csv(read_stdin(bound), ',', "stdin", reading, bound);
  };
  Table table = path == "-" ? from_stdin() : read_table(path, reading, limits_of_tables);
  if (target.empty()) return table;
  const int64_t all = table.rows;
  table = with_target(std::move(table), target);
  if (table.rows == all) return table;
  const std::string note =
      fmt::format("{} of {} rows have no {} (an empty cell, NA, None, null, ?): left out", all - table.rows,
                  all, in_quotes(target));
  notes != nullptr ? notes->push_back(note) : log_note(note);
  return table;
}

Table read_training(const std::string& path, const std::string& target, SplitRequest& rows, Words* notes) {
  Reading reading{{}, perhaps_named(rows.categorical), perhaps_named(rows.ignore), true};
  using enum LikelihoodKind;
  if (rows.likelihood == gaussian || rows.likelihood == poisson) reading.numbers = {target};
  if (rows.likelihood == bernoulli || rows.likelihood == softmax) reading.labels = {target};
  Table table = read_rows(path, reading, rows.likelihood == cox ? "" : target, notes);
  rows.ignore = columns_named(rows.ignore, "fit", "--ignore", table);
  rows.categorical = columns_named(rows.categorical, "fit", "--categorical", table);
  return table;
}

void log_unfinished(const TableModel& model) {
  if (model.interrupted())
    log_line(
        "note: the fit of this model was stopped before its end: it is the best so far (fit --resume goes "
        "on)");
}

nlohmann::json report_on(const TableModel& model, const Table& rows, double level) {
  if (rows.rows == 0) return {};
  std::vector<BadRow> bad;
  nlohmann::json report = model.evaluate(rows, level, &bad);
  if (!bad.empty()) log_line("note: " + bad_rows_text(rows, bad, "left out of the report"));
  return report;
}

}  // namespace slimbayes::cli
