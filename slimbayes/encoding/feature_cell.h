#pragma once

#include <cmath>

#include "slimbayes/encoding/encoder.h"

namespace slimbayes {

/// Writes the scaled number of a cell, if its column gives one, and moves `out` behind it. NaN is a missing
/// cell. Returns false if the number is too far from the training rows (Encoder::kFarthest).
inline bool encode_scaled(const Encoder::Feature& feature, double value, float*& out) {
  if (!feature.scaled) return true;
  const double scaled = ((std::isnan(value) ? feature.fill : value) - feature.shift) / feature.scale;
  if (!(std::abs(scaled) <= Encoder::kFarthest)) return false;
  *out++ = static_cast<float>(scaled);
  return true;
}

/// Writes the indicator of a missing cell, if its column gives one, and moves `out` behind it.
inline void encode_missing(const Encoder::Feature& feature, bool missing, float*& out) {
  if (feature.indicator) *out++ = missing ? 1.0F : 0.0F;
}

/// Writes the features of a cell of a column without categories. Returns false as encode_scaled does.
inline bool encode_number(const Encoder::Feature& feature, double value, float*& out) {
  if (!encode_scaled(feature, value, out)) return false;
  encode_missing(feature, std::isnan(value), out);
  return true;
}

}  // namespace slimbayes
