#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "slimbayes/engine/classes/class_spec.h"
#include "slimbayes/engine/rate_model.h"
#include "slimbayes/engine/row_spec.h"

namespace slimbayes::engine {

/// A fitted model of the rows of a table as data, from which rows are answered without libtorch: a
/// regression, a classification or a regression of counts. A struct, so that method/method.h can declare it
/// alone.
struct AnswerSpec : std::variant<RowSpec, ClassSpec, RateSpec> {
  using variant::variant;
};

/// Returns the member of counts that answers alone; nullopt for a mixture and for another task.
inline std::optional<LinearRows> one_member(AnswerSpec spec) {
  auto* rates = std::get_if<RateSpec>(&spec);
  const bool alone = rates != nullptr && rates->candidates.size() == 1 &&
                     rates->candidates[0].members.size() == 1 && rates->candidates[0].input_shift.empty();
  if (!alone) return {};
  return std::move(rates->candidates[0].members[0]);
}

}  // namespace slimbayes::engine
