#pragma once

#include <cstdint>
#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/synthetic.h"

namespace slimbayes {

/// Returns a table of steps with its truth.
inline Table steps(int64_t rows, uint64_t seed = 1) { return generate("steps", rows, Stream(seed)); }

/// Returns the options of a short fit to such a table.
inline FitOptions small(const std::string& method = "dnn") {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.options = {{"steps", 200}, {"hidden", 16}, {"blocks", 1}};
  if (method == "gp-exact") fit.options = {{"iterations", 20}};
  fit.ignore = {"true_mean", "true_sd"};
  return fit;
}

}  // namespace slimbayes
