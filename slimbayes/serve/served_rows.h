#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "slimbayes/engine/rate_model.h"
#include "slimbayes/serve/row_classes.h"
#include "slimbayes/serve/row_regression.h"
#include "slimbayes/serve/serve_file.h"

namespace slimbayes {

using RowRates = std::shared_ptr<const engine::RateModel>;

/// What answers encoded rows, of each task.
using ServedRows = std::variant<RowRegression, RowClasses, RowRates>;

/// Makes what answers the rows of a model file, which may be untrusted. Throws std::invalid_argument for
/// parts that do not fit each other or the encoder, and for a model that the memory at hand cannot answer.
ServedRows served_rows(const ServedFile& parts);

int64_t inputs_of(const ServedRows& rows);  // d, numbers of an encoded row

}  // namespace slimbayes
