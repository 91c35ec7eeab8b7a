#pragma once

#include <string>

#include "slimbayes/methods/weight_space/variational_options.h"

namespace slimbayes {

/// Options of `full-rank`, the mean-field network to which low-rank is compared.
struct FullRankOptions {
  VariationalOptions variational = with_less_kl();
  std::string start = "network";
};

template <class V>
void describe(FullRankOptions& o, V& v) {
  describe(o.variational, v);
  v("start", o.start,
    "initial locations. network: those of a plain network; uniform: between -0.2 and 0.2 for every weight, "
    "the paper's start, which a wide network hardly recovers from",
    Choices{{"network", "uniform"}}, "Toure and Stephens, appendix G");
}

/// Options of `rank-1`, a network whose matrices are scaled by random vectors.
struct RankOneOptions {
  VariationalOptions variational = with_less_kl();
  std::string scales = "about-one";
};

template <class V>
void describe(RankOneOptions& o, V& v) {
  WithoutOptions<V> of_matrices{v, {"random_biases"}};  // only the scales of the matrices are random
  describe(o.variational, of_matrices);
  v("scales", o.scales,
    "where the prior of the random scales has its mean. about-one: the prior keeps the trained matrix; "
    "about-zero: the prior draws every scale towards 0, for which a larger matrix can make up, as it has no "
    "prior",
    Choices{{"about-one", "about-zero"}},
    "Dusenberry et al. 2020 (about-one); Toure and Stephens, appendix I.1.1 (about-zero)");
}

}  // namespace slimbayes
