#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options of `ensemble`, which averages several fits of one method. The options of that method are given in
/// the same JSON object as these two.
struct EnsembleOptions {
  int64_t members = 5;
  std::string of = "dnn";
};

template <class V>
void describe(EnsembleOptions& o, V& v) {
  v("members", o.members, "fits to average; more of them sharpen the variance between the members",
    Range{1, 1000}, "Lakshminarayanan et al. 2017");
  v("of", o.of, "the method of the members; its own options may be given beside these", Choices{{}},
    "Lakshminarayanan et al. 2017");
}

/// Checks the options of an ensemble and of its members, which are keys of the same object, and fills in both
/// defaults. Throws std::invalid_argument as every MethodInfo::resolve.
nlohmann::json resolve_ensemble(const nlohmann::json& given);

}  // namespace slimbayes
