#include "slimbayes/fit/kept_classes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "slimbayes/data/input_encoder.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target.h"

namespace slimbayes {
namespace {

/// Moves the rows of a group from `part` to `train`; both stay in ascending order. Returns the number of
/// moved rows. Moves none and returns 0 if the part would become empty.
int64_t move_group(const std::vector<int64_t>& group_of, int64_t group, std::vector<int64_t>& part,
                   std::vector<int64_t>& train) {
  const auto in_group = [&](int64_t row) { return group_of[static_cast<size_t>(row)] == group; };
  const int64_t size = std::ranges::count_if(part, in_group);
  if (size == std::ssize(part)) return 0;
  std::ranges::copy_if(part, std::back_inserter(train), in_group);
  std::erase_if(part, in_group);
  std::ranges::sort(train);
  return size;
}

}  // namespace

std::string keep_classes_in_training(const Examples& examples, const FitOptions& options, SplitRows& split) {
  const auto* table = std::get_if<Table>(&examples);
  if (table == nullptr || options.target.empty() || options.split == "time" ||
      task_kind(*table, options.target, options.likelihood) != TaskKind::classification)
    return "";
  const Column& target = *table->find(options.target);
  const auto class_of = [&](int64_t row) { return target.values[static_cast<size_t>(row)]; };
  std::map<double, int64_t> rows, trained;  // rows of each class: in all, in training
  for (double value : target.values)
    if (std::isfinite(value)) ++rows[value];
  for (int64_t row : split.train)
    if (std::isfinite(class_of(row))) ++trained[class_of(row)];
  std::vector<std::string> moved;
  int64_t moved_rows = 0;
  std::vector<int64_t> group_of;
  for (const auto& [value, size] : rows) {
    if (size < 2 || trained.contains(value)) continue;
    if (group_of.empty()) group_of = groups_of(examples, options).of;
    for (auto* part : {&split.valid, &split.calibration, &split.test}) {
      const auto found = std::ranges::find(*part, value, class_of);
      if (found == part->end()) continue;
      const int64_t group = group_of[static_cast<size_t>(*found)];
      const int64_t size_moved = move_group(group_of, group, *part, split.train);
      if (size_moved == 0) continue;
      for (int64_t row : split.train)  // the moved group may hold rows of other classes, or of none, too
        if (group_of[static_cast<size_t>(row)] == group && std::isfinite(class_of(row)))
          ++trained[class_of(row)];
      moved_rows += size_moved;
      moved.push_back(
          fmt::format("{} ({} in all)", in_quotes(cell_text(target, value)), counted(size, "row")));
      break;
    }
  }
  if (moved.empty()) return "";
  return fmt::format(
      "all rows of {} {} had been held out; {} moved into training: scores of so rare a class say little",
      moved.size() == 1 ? "class" : "classes", fmt::join(moved, ", "),
      moved_rows == 1 ? "1 row was" : fmt::format("{} rows were", moved_rows));
}

}  // namespace slimbayes
