#pragma once

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Options of `dnn`, the baseline: the network of the other methods with a linear head, trained on squared
/// error or, for classes, on cross entropy.
struct DnnOptions {
  TrainingOptions training;
  NetworkOptions network;
};

template <class V>
void describe(DnnOptions& o, V& v) {
  describe(o.training, v);
  describe(o.network, v);
}

}  // namespace slimbayes
