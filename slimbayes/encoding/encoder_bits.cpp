// How the columns of a table get the kind that they had in training: by a reader that is told the kinds, or
// afterwards, where cells that mean yes and no have another type.
#include <algorithm>

#include "slimbayes/encoding/bits.h"
#include "slimbayes/encoding/encoder.h"

namespace slimbayes {

bool Encoder::Feature::held_bits() const {
  if (kind != ColumnKind::numeric || !range || range->low != 0 || range->high != 1) return false;
  return range->sd * range->sd >=
         fill * (1 - fill) * (1 - 1e-6);  // among numbers from 0 to 1 only of 0 and 1
}

Table Encoder::as_trained(Table table) const {
  for (auto& [place, column] : changed_bits(table)) table.columns[place] = std::move(column);
  return table;
}

Reading Encoder::reading(bool with_target) const {
  Reading reading;
  reading.names = options_.names;
  reading.others_used = false;
  for (const Feature& feature : features_) {
    if (feature.width() > 0) reading.kinds[feature.name] = feature.kind;
    if (feature.width() > 0 && feature.held_bits()) reading.bits.push_back(feature.name);
  }
  // A yes/no target is not listed here, so that its cells decide its kind. A new word in it then gives an
  // error about a new class, and not about an unreadable cell.
  if (with_target && target_kind_ && *target_kind_ != ColumnKind::boolean)
    reading.kinds[options_.target] = *target_kind_;
  if (with_target && are_bits(schema_.task.levels)) reading.bits.push_back(options_.target);
  return reading;
}

}  // namespace slimbayes
