#include "slimbayes/model/calibration/group_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "slimbayes/data/calibration_cells.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/density/conformal_rank.h"

namespace slimbayes {

namespace {

constexpr size_t kNamed = 10;  // groups that a note names

/// Returns the first texts of the list, comma-separated, and how many more there are.
std::string listed(const std::vector<std::string>& texts) {
  const size_t named = std::min(kNamed, texts.size());
  const std::vector<std::string> first(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(named));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     texts.size() > named ? fmt::format(" and {} more", texts.size() - named) : "");
}

const char* answers_of(const Model& model) {
  return model.schema().task.kind == TaskKind::classification ? "sets" : "intervals";
}

}  // namespace

std::string shared_groups_note(const Model& model, double level) {
  const GroupCalibration& groups = model.group_calibration();
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  std::vector<std::string> few;
  for (size_t g = 0; g < groups.cells.size(); ++g) {
    const ConformalScores own = scores_of_group(model.calibration(), groups, static_cast<int64_t>(g));
    if (!suffices(own, level))
      few.push_back(fmt::format("{} ({})", text_of(groups.cells[g]), counted(own.value.size(0), noun)));
  }
  if (few.empty()) return "";
  return fmt::format(
      "{} of {} groups of {} have fewer than the {} calibration {}s that the level {:g} needs and share the "
      "calibration of all {}s: {}; their {} hold the level on average over all {}s, not in each group: raise "
      "`.calibration_fraction`, or lower `.level`",
      few.size(), groups.cells.size(), in_quotes(model.fit_options().calibrate_by), conformal_rows(level),
      noun, level, noun, listed(few), answers_of(model), noun);
}

std::string unseen_groups_note(const Model& model, const Examples& examples, const Answers& answers) {
  if (std::ranges::find(answers.calibration_group, -1) == answers.calibration_group.end()) return "";
  const std::vector<GroupCell> cells = calibration_cells(examples, model.fit_options());
  std::map<GroupCell, int64_t> count;
  for (size_t i = 0; i < answers.rows.size(); ++i)
    if (answers.calibration_group[i] < 0) ++count[cells[static_cast<size_t>(answers.rows[i])]];
  const char* noun = noun_of(examples);
  std::vector<std::string> unseen;
  for (const auto& [cell, rows] : count)
    unseen.push_back(fmt::format("{} ({})", text_of(cell), counted(rows, noun)));
  return fmt::format(
      "no calibration {} had these cells of {}: {}; their {} have the calibration of all {}s, which need not "
      "hold for them",
      noun, in_quotes(model.fit_options().calibrate_by), listed(unseen), answers_of(model), noun);
}

}  // namespace slimbayes
