#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/split/split.h"

namespace slimbayes {

/// Takes the rows with wrong cells (data/rows/wild_rows.h) out of the training, validation and calibration
/// part of the split and adds notes on them. Test rows stay: they score the model as it is used. Returns
/// the share of the rows that are left out because of their target; 0 for events, which have no target.
double leave_wild_rows_out(const Table& table, const FitOptions& fit, SplitRows& split);

/// Returns the validation data of a fit without their rows with wrong cells, with notes on these; nullopt if
/// there are none. Only rows of a table can have wrong cells.
std::optional<Examples> without_wild_rows(const Examples& valid, const FitOptions& fit,
                                          std::vector<std::string>& notes);

/// Returns the validation data of a fit without their examples of weight 0 (positive_examples). Throws
/// std::invalid_argument if FitOptions::weights names a column that they lack, and as row_weights.
PositiveExamples positive_validation(const Examples& valid, const FitOptions& fit);

/// Returns the note of a fit that leaves `weightless` of `all` examples out, whose weight in `column` is 0.
/// `noun` is the name of an example (noun_of).
std::string weightless_note(int64_t weightless, int64_t all, std::string_view noun,
                            const std::string& column);

/// Returns the rows of separate validation data on which the fit of one of several targets validates: those
/// that have FitOptions::target and a weight above 0, without those with wrong cells. Ascending.
std::vector<int64_t> own_valid_rows(const Table& valid, const FitOptions& fit);

/// Returns the parts of all examples as parts of those with the indices `places`, ascending: rows that are
/// not among them are left out, the others are counted among them. `places` is empty if it has all examples
/// (FitData::places).
SplitRows among_places(SplitRows split, const std::vector<int64_t>& places);

/// Returns the parts of the examples with the indices `places` as parts of all examples: what among_places()
/// makes of them is `split` again. `places` is empty if it has all examples.
SplitRows among_all(SplitRows split, const std::vector<int64_t>& places);

/// The examples in the parts of a split. Encode only these: rows in no part may have cells that cannot be
/// encoded.
struct PartExamples {
  std::optional<Examples> some;  // the rows in the parts; empty: the examples given (examples_in_parts)
  SplitRows split;               // their indices in `some`, or in the examples given
};

/// Returns the rows of a table that the parts of the split name. If they name all rows, and for inputs other
/// than tables, `some` is empty: the examples serve as they are, without a copy.
PartExamples examples_in_parts(const Examples& examples, const SplitRows& split);

}  // namespace slimbayes
