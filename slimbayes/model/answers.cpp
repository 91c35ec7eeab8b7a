// A row that gets no answer does not prevent the answers to other rows and does not change them. Rows whose
// inputs are too far from the training rows (Encoder::inputs) are removed before the method sees them. Rows
// whose answer overflows are removed afterwards.
#include "slimbayes/model/answers.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/calibration/group_calibration.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/calibration_cells.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/model/example_uniforms.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

/// Returns a text that names a possible cause of an answer that is not finite. It depends on how far `row`
/// lies outside the training range, if that is known (`far`).
std::string cause(const std::optional<Outside>& far, int64_t row) {
  if (!far) return "the row may lie too far from the training data for this model";
  const double beyond = far->beyond[static_cast<size_t>(row)];
  if (beyond == 0) return "the row lies within the training range: the model may not have converged";
  return fmt::format("the row lies {:.4g} half-ranges outside the training range, too far for this model",
                     beyond);
}

/// Returns the first fault of each example, given the faults of the rows of an answer, of which each example
/// has `rows` (the pixels of an image) one after another.
std::vector<std::string> by_example(std::vector<std::string> faults, int64_t rows) {
  if (rows == 1) return faults;
  std::vector<std::string> first(faults.size() / static_cast<size_t>(rows));
  for (size_t i = 0; i < faults.size(); ++i) {
    std::string& fault = first[i / static_cast<size_t>(rows)];
    if (fault.empty()) fault = std::move(faults[i]);
  }
  return first;
}

/// Returns the entries at these places.
std::vector<int64_t> picked(const std::vector<int64_t>& all, const std::vector<int64_t>& places) {
  std::vector<int64_t> out;
  for (const int64_t i : places) out.push_back(all[static_cast<size_t>(i)]);
  return out;
}

/// Removes every answer i with a fault, that is with faults[i] not empty, together with its intervals, and
/// lists its row in `a.bad` with the fault as the reason.
void leave_out(Answers& a, std::vector<std::string> faults_of_rows, const InputEncoder& encoder,
               const Examples& examples) {
  const int64_t rows_each = rows_per_example(schema_of(encoder).task);
  const std::vector<std::string> faults = by_example(std::move(faults_of_rows), rows_each);
  std::vector<int64_t> kept, rows;
  std::optional<Outside> far;
  for (size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].empty()) {
      kept.push_back(static_cast<int64_t>(i));
      rows.push_back(a.rows[i]);
      continue;
    }
    if (!far) far = outside(encoder, examples);
    a.bad.push_back({a.rows[i], fmt::format("expected a finite answer; received one whose {}; {}", faults[i],
                                            cause(far, a.rows[i]))});
  }
  if (kept.size() == faults.size()) return;
  const at::Tensor index =
      (at::tensor(kept, at::kLong).unsqueeze(1) * rows_each + at::arange(rows_each)).flatten();
  a.answer = take(a.answer, index);
  for (LevelAnswer& at : a.levels) {
    if (at.interval)
      at.interval = {at.interval->lower.index_select(0, index), at.interval->upper.index_select(0, index)};
  }
  a.rows = std::move(rows);
  if (!a.calibration_group.empty()) a.calibration_group = picked(a.calibration_group, kept);
}

/// Returns whether at least one of `rows` lies within the training range. Also returns true if the range is
/// unknown (`far` is empty). If none of these rows has a finite answer, distance from the training data
/// cannot be the reason, so the model must be at fault.
bool some_inside(const std::optional<Outside>& far, const std::vector<int64_t>& rows) {
  const auto inside = [&](int64_t row) { return far->beyond[static_cast<size_t>(row)] == 0; };
  return !far || std::ranges::any_of(rows, inside);
}

}  // namespace

void check_same(const Examples& examples, const Answers& a) {
  const int64_t answered = std::ssize(a.rows) + std::ssize(a.bad);
  if (count(examples) != answered)
    refuse("answers", fmt::format("the examples of these {} answers", answered),
           counted(count(examples), noun_of(examples)), "Model::examples() finds the windows of a table");
}

Answers take(const Answers& a, const std::vector<int64_t>& places) {
  const auto place_of = [&](int64_t row) -> int64_t {  // -1: not among them
    const auto found = std::ranges::lower_bound(places, row);
    return found == places.end() || *found != row ? -1 : found - places.begin();
  };
  Answers out;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < a.rows.size(); ++i) {
    const int64_t place = place_of(a.rows[i]);
    if (place < 0) continue;
    kept.push_back(static_cast<int64_t>(i));
    out.rows.push_back(place);
  }
  for (const BadRow& bad : a.bad)
    if (const int64_t place = place_of(bad.row); place >= 0) out.bad.push_back({place, bad.reason});
  if (!a.calibration_group.empty()) out.calibration_group = picked(a.calibration_group, kept);
  const at::Tensor index = at::tensor(kept, at::kLong);
  out.answer = take(a.answer, index);
  for (const LevelAnswer& at : a.levels) {
    LevelAnswer own{at.level};
    if (at.interval)
      own.interval = {at.interval->lower.index_select(0, index), at.interval->upper.index_select(0, index)};
    if (at.set) own.set = at.set->index_select(0, index);
    out.levels.push_back(std::move(own));
  }
  return out;
}

void Model::check_answers_anything(const Examples& examples, const std::vector<int64_t>& asked,
                                   const std::vector<BadRow>& bad) const {
  const auto middle_is_finite = [&] {
    std::vector<int64_t> sizes = schema().input.sizes;
    if (schema().input.tokens) return false;
    if (sizes.empty()) sizes.push_back(std::ssize(schema().features));
    sizes.insert(sizes.begin(), 1);
    const at::Tensor x = at::zeros(sizes, at::kDouble);
    return non_finite(answer_to(dataset_of(schema(), {{x}}), {})).front().empty();
  };
  if (!some_inside(outside(*parts_.encoder, examples), asked) && middle_is_finite()) return;
  const BadRow& first = *std::ranges::find(bad, asked.front(), &BadRow::row);
  throw DataError(parts_.source,
                  fmt::format("expected a model with finite answers; received none for {} ({}: {}); the "
                              "model is damaged or its training has not converged: fit it again",
                              counted(std::ssize(asked), noun_of(examples)), place_of(examples, first.row),
                              first.reason));
}

Answers Model::answers(const Examples& given, const AnswerRequest& ask, const PredictOptions& options) const {
  if (kind_of(*parts_.encoder) == InputKind::windows && std::holds_alternative<Table>(given))
    return answers(examples(given), ask, options);
  Answers a;
  Dataset data = dataset_of(*parts_.encoder, given, false, &a.bad);
  const Dataset all = data;
  a.rows = rows_without(a.bad, data.size());
  if (!a.bad.empty()) data = data.subset(at::tensor(a.rows, at::kLong));
  const std::vector<int64_t> asked = a.rows;
  // Answers without a level do not need the column.
  if (!parts_.by_group.empty() && (!ask.levels.empty() || have_calibration_cells(given, parts_.fit)))
    a.calibration_group =
        picked(groups_of_cells(parts_.by_group, calibration_cells(given, parts_.fit)), a.rows);
  a.answer = answer_to(data, options);
  leave_out(a, non_finite(a.answer), *parts_.encoder,
            given);  // before the intervals, which need finite answers
  for (const double level : ask.levels) {
    a.levels.push_back({level, interval(a.answer, level, a.calibration_group)});
    leave_out(a, non_finite(a.answer, a.levels.back().interval), *parts_.encoder, given);
  }
  if (const auto* classes = std::get_if<Classes>(&a.answer);
      classes != nullptr && parts_.calibration.groups > 0) {
    const bool random = !ask.deterministic_sets && !ask.levels.empty();
    const at::Tensor u = random ? example_uniforms(all.subset(at::tensor(a.rows, at::kLong))) : at::Tensor();
    for (LevelAnswer& at : a.levels) {
      if (!parts_.by_group.empty()) {
        at.set = group_set(*classes, u, a.calibration_group, parts_.calibration, parts_.by_group, at.level);
        continue;
      }
      at.set = random ? prediction_set(*classes, u, parts_.calibration, at.level)
                      : deterministic_set(*classes, parts_.calibration, at.level);
    }
  }
  if (a.rows.empty() && !asked.empty()) check_answers_anything(given, asked, a.bad);
  std::ranges::sort(a.bad, {}, &BadRow::row);
  return a;
}

Predictive Model::answer(const Examples& given, const PredictOptions& options) const {
  if (kind_of(*parts_.encoder) == InputKind::windows && std::holds_alternative<Table>(given))
    return answer(examples(given), options);
  Answers all = answers(given, {}, options);
  if (!all.bad.empty()) throw_bad_example(given, all.bad.front());
  return std::move(all.answer);
}

std::optional<Interval> Model::interval(const Predictive& p, double level,
                                        const std::vector<int64_t>& group) const {
  if (const auto* r = std::get_if<Regression>(&p)) return interval(*r, level, group);
  if (const auto* counts = std::get_if<Counts>(&p)) return slimbayes::interval(*counts, level);
  if (const auto* intensity = std::get_if<Intensity>(&p)) return slimbayes::interval(*intensity, level);
  return std::nullopt;
}

}  // namespace slimbayes
