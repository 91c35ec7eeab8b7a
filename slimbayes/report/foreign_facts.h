#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/report/scored.h"

namespace slimbayes {

/// Returns how far the examples lie from the training data, as a JSON object:
///   scores   for "distance" and the score that the method offers for foreign rows (Model::ood) an object
///            with `edges` and `rows`, a histogram, `beyond`, the number of rows above its last edge, and
///            `outside`, the rows of each bin that lie outside the training range, where that is known
///   outside  rows outside the training range and `columns`, those that are left most, with rows and farthest
///            (in half-ranges); absent where the range is unknown
///   far      the tenth of the rows with the largest distance against the others: `error` and `sd`, the
///            quotients of their RMSE and mean sd (numbers and counts) or of their rate of wrong answers and
///            mean entropy (classes); absent with fewer than 50 rows
///   says     a sentence
/// null if there is no score.
nlohmann::json foreign_facts(const ScoredExamples& s);

}  // namespace slimbayes
