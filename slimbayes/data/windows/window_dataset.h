#pragma once

#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/encoding/bad_row.h"
#include "slimbayes/encoding/windows/window_encoder.h"

namespace slimbayes {

/// Returns a dataset whose batches have inputs float32 [b, window, d] and, if `with_target`, the target of
/// each window. Throws and fills `bad` as WindowEncoder::encode.
Dataset window_dataset(const WindowEncoder& encoder, const WindowTable& given, bool with_target,
                       std::vector<BadRow>* bad = nullptr);

}  // namespace slimbayes
