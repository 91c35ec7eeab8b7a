#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of `ensemble`, which averages several fits of one method. The same JSON object holds the options
/// of that method.
struct EnsembleOptions {
  int64_t members = 5;
  std::string of = "dnn";
};

template <class V>
void describe(EnsembleOptions& o, V& v) {
  v("members", o.members, "number of fits to average; more of them estimate the disagreement better",
    Range{1, 1000}, "Lakshminarayanan et al. 2017");
  v("of", o.of, "method of the members; its options may be given too", ValueName{"METHOD"},
    "Lakshminarayanan et al. 2017");
}

/// Checks the options of an ensemble and of its members, which are keys of the same object, and fills in both
/// defaults. Throws std::invalid_argument as every MethodInfo::resolve.
nlohmann::json resolve_ensemble(const nlohmann::json& given);

}  // namespace slimbayes
