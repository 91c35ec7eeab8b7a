#pragma once

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

}  // namespace slimbayes
