#pragma once

#include "slimbayes/methods/weight_space/variational_options.h"

namespace slimbayes {

/// Options of `f-sgvb-lrt`: a mean-field network that looks for flat minima.
struct SharpnessOptions {
  VariationalOptions variational = with_less_kl();
  double radius = 0.05;
};

template <class V>
void describe(SharpnessOptions& o, V& v) {
  // The KL to a mixture has no closed form without drawn weights.
  WithoutOptions<V> own{v, {"prior", "narrow_prior_sd"}};
  describe(o.variational, own);
  v("radius", o.radius,
    "length of the step uphill, in the space of all locations, at whose end the gradient is taken; 0: plain "
    "steps. Raise it if the training loss is far below the validation loss",
    Range{0, 100}, "Foret et al. 2021");
}

}  // namespace slimbayes
