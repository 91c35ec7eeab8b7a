#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/examples.h"

namespace slimbayes {

/// The data of a fit. The examples are not copied and must live longer than this object.
struct FitData {
  /// Hashes the examples, once for the whole fit. `own_valid` may be nullptr.
  FitData(const Examples& given, const Examples* own_valid)
      : examples(given), valid(own_valid), hash(hash_of(given)) {}

  /// The examples `some` of `all`, those with the indices `places_of`, as a fit without those of weight 0.
  FitData(const FitData& all, const Examples& some, std::vector<int64_t> places_of)
      : examples(some), valid(all.valid), hash(all.hash), places(std::move(places_of)) {
    weightless = count(all.examples) - count(some);
  }

  const Examples& examples;  // windows for a time series
  const Examples* valid;     // separate validation data; nullptr: validation is a part of `examples`
  std::string hash;          // hash_of() of all examples of the data, also of those of weight 0
  /// The index of each example in the data of the fit, where those of weight 0 were left out; empty: none
  /// was.
  std::vector<int64_t> places = {};
  int64_t weightless = 0;  // number of examples that were left out because of their weight 0
};

}  // namespace slimbayes
