#pragma once

#include <cstdint>

#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// Options of `bag-of-words`: a text is the mean of trained vectors of its words, followed by a linear layer.
struct BagOfWordsOptions {
  TrainingOptions training;
  int64_t hidden = 64;
  double dropout = 0;
};

template <class V>
void describe(BagOfWordsOptions& o, V& v) {
  describe(o.training, v);
  v("hidden", o.hidden, "numbers of a word's vector", Range{1, 65536}, "slimbayes");
  v("dropout", o.dropout, "share of the features set to zero in training", Range{0, 0.9}, "slimbayes");
}

}  // namespace slimbayes
