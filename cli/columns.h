#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes::cli {

/// Returns the elements of a tensor as doubles. x [n]
inline std::vector<double> numbers(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// Returns a numeric table column with this name and these values. values [n]
inline Column column(const std::string& name, const at::Tensor& values) {
  return {name, ColumnKind::numeric, numbers(values), {}};
}

}  // namespace slimbayes::cli
