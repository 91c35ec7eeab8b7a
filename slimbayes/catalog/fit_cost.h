#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "slimbayes/catalog/network/shape.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The size of a fit, from which its cost follows.
struct FitSize {
  int64_t rows = 0;     // that train
  Shape input;          // of a row
  int64_t tokens = 0;   // of the vocabulary of a text, else 0
  int64_t outputs = 1;  // classes of a classification, else 1
};

/// The arithmetic of a fit, in floating-point operations of a large float64 matrix product: work that runs
/// slower counts more; and its memory. Right within a factor of about three. `auto` does not begin what its
/// time limit does not allow.
struct FitCost {
  double least = 0;   // of the shortest fit that is worth a score
  double finish = 0;  // of the part of it that is still to do when the time ends the fit
  double answer = 0;  // of the answer to one row
  double bytes = 0;   // of memory at its peak, beside the rows: how many fits run beside each other
};

/// Returns the cost of a network with its head, trained by gradient steps. `options` are all options of the
/// method; those of NetworkOptions decide the network. Throws as network_for.
SLIMBAYES_EXPORT FitCost network_cost(const FitSize& size, const nlohmann::json& options);

}  // namespace slimbayes
