#pragma once

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/text.h"

namespace slimbayes {

/// Returns a dataset whose batches have tokens int64 [b, t] as inputs, their mask [b, t] (false for padding),
/// and the target if `with_target`. t is the length of the longest row of the batch. Throws as
/// TextEncoder::tokens_of and target_values.
Dataset text_dataset(const TextEncoder& encoder, const Table& table, bool with_target);

}  // namespace slimbayes
