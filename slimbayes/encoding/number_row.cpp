#include "slimbayes/encoding/number_row.h"

#include <fmt/format.h>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/feature_cell.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

NumberRow::NumberRow(const Encoder& encoder) {
  for (const Encoder::Feature& feature : encoder.columns()) {
    if (feature.width() == 0) continue;
    if (!feature.levels.empty() && categorical_.empty()) categorical_ = feature.name;
    features_.push_back(feature);
    names_.push_back(feature.name);
  }
}

void NumberRow::encode(std::span<const double> cells, std::span<float> out) const {
  constexpr const char* kFunction = "RowPredictor";
  if (!categorical_.empty())
    refuse(kFunction, "a model whose inputs are numbers", "categories in column " + in_quotes(categorical_),
           "Model::predict answers rows of a table");
  if (cells.size() != features_.size())
    refuse(kFunction, fmt::format("{} cells", features_.size()), std::to_string(cells.size()),
           "RowPredictor::columns() names them");
  float* to = out.data();
  for (size_t j = 0; j < cells.size(); ++j)
    if (!encode_number(features_[j], cells[j], to))
      refuse(kFunction,
             fmt::format("a number within {:g} half-ranges or sds of the training rows in column {}",
                         Encoder::kFarthest, in_quotes(names_[j])),
             fmt::format("{}", cells[j]));
}

}  // namespace slimbayes
