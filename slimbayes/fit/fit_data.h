#pragma once

#include <string>

#include "slimbayes/data/examples.h"

namespace slimbayes {

/// The data of a fit. The examples are not copied and must live longer than this object.
struct FitData {
  /// Hashes the examples, once for the whole fit. `own_valid` may be nullptr.
  FitData(const Examples& given, const Examples* own_valid)
      : examples(given), valid(own_valid), hash(hash_of(given)) {}

  const Examples& examples;  // windows for a time series
  const Examples* valid;     // separate validation data; nullptr: validation is a part of `examples`
  std::string hash;          // hash_of(examples)
};

}  // namespace slimbayes
