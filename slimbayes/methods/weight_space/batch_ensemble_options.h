#pragma once

#include <cstdint>

#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {

/// Options of `batch-ensemble`: members that share one network, whose matrices each of them scales.
struct BatchEnsembleOptions {
  TrainedNetworkOptions network;
  int64_t batch_members = 4;
};

template <class V>
void describe(BatchEnsembleOptions& o, V& v) {
  describe(o.network, v);
  v("batch_members", o.batch_members,
    "networks whose answers are averaged. A step divides its batch among them, so more of them need more "
    "steps",
    Range{2, 1000}, "Wen, Tran and Ba 2020");
}

}  // namespace slimbayes
