#pragma once

#include "slimbayes/catalog/backbone_options.h"
#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// dnn: the same backbone with a linear head, trained on squared error.
struct DnnOptions {
  TrainingOptions training;
  BackboneOptions backbone;
};

template <class V>
void describe(DnnOptions& o, V& v) {
  describe(o.training, v);
  describe(o.backbone, v);
}

}  // namespace slimbayes
