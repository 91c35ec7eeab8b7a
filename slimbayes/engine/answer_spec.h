#pragma once

#include <variant>

#include "slimbayes/engine/classes/class_spec.h"
#include "slimbayes/engine/rate_model.h"
#include "slimbayes/engine/row_spec.h"

namespace slimbayes::engine {

/// A fitted model of the rows of a table as data, from which rows are answered without libtorch: a regression,
/// a classification or a regression of counts. A struct, so that method/method.h can declare it alone.
struct AnswerSpec : std::variant<RowSpec, ClassSpec, RateSpec> {
  using variant::variant;
};

}  // namespace slimbayes::engine
