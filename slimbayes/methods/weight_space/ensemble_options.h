#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of `ensemble`, which averages several fits of one method, its members. The options of the members
/// are given as further keys of the same JSON object.
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

/// Checks the options of an ensemble and of its members, which are keys of one object. Returns all of them,
/// with defaults filled in. It is the MethodInfo::resolve of `ensemble`. Throws std::invalid_argument for an
/// unknown option, a value out of range, or a member method that cannot be a member.
nlohmann::json resolve_ensemble(const nlohmann::json& given);

}  // namespace slimbayes
