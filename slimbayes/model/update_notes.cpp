#include "slimbayes/model/update_notes.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/answers/answers.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/model/series/adaptive_state.h"

namespace slimbayes {

namespace {

constexpr double kMostSds = 10;  // largest median of |y - mean| / sd without a note

double median_of(const at::Tensor& x) { return x.median().item<double>(); }

/// Returns a note if the median distance of the targets from the model's answers is above kMostSds predictive
/// sds, else "". Such targets seem to have another unit or meaning than those of training.
std::string far_targets(const Model& model, const Examples& rows) {
  if (model.schema().task.kind != TaskKind::regression) return "";
  const Answers a = model.answers(rows);
  const auto& p = std::get<Regression>(a.answer);
  const at::Tensor y = target_as_given(model.encoder(), take(rows, a.rows)).to(at::kDouble);
  const double sds = median_of((y - p.mean).abs() / total_var(p).sqrt());
  if (!(sds > kMostSds)) return "";
  return fmt::format(
      "the targets of these {} lie far from the model's answers, by {:.3g} sd in the median (the median "
      "target is {:.4g}, the median answer {:.4g}): check that unit and columns are those of the training",
      counted(y.size(0), noun_of(rows)), sds, median_of(y), median_of(p.mean));
}

}  // namespace

std::vector<std::string> update_notes(const Model& model, const Examples& examples) {
  const Examples rows = model.examples(examples, /*with_target=*/true);
  std::vector<std::string> notes = notes_for(model.encoder(), rows);
  if (const auto far = outside(model.encoder(), rows); far && far->rows > 0)
    notes.push_back(outside_text(*far, std::get<Table>(rows)));
  if (std::string note = far_targets(model, rows); !note.empty()) notes.push_back(std::move(note));
  if (model.parts().adaptive && !learns_rows(model))
    notes.push_back(fmt::format(
        "{} has no exact posterior that could learn these {}s: only the adaptive intervals follow them",
        model.method(), noun_of(rows)));
  return notes;
}

}  // namespace slimbayes
