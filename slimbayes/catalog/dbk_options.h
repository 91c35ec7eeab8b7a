#pragma once

#include "slimbayes/catalog/training_options.h"

namespace slimbayes {

/// The backbone of N appendix B: a tabular residual network.
struct BackboneOptions {
  int64_t hidden = 64;
  int64_t blocks = 2;
};

template <class V>
void describe(BackboneOptions& o, V& v) {
  v("hidden", o.hidden, "width of the residual network; raise it on large tables", Range{1, 65536},
    "N section 4");
  v("blocks", o.blocks, "residual blocks", Range{0, 64}, "N appendix B");
}

/// dbk: a deep basis kernel trained with dPPGP.
struct DbkOptions {
  TrainingOptions training;
  BackboneOptions backbone;
  int64_t rank = 128;
  std::string basis = "silu";
  double alpha = 0.01;
  double beta = 0.01;
  double focus = 0.5;
  double focus_until = 0.7;
  double noise_start = 1e-2;
  double noise_floor = 1e-4;
  double noise_rate = 1e-2;
};

template <class V>
void describe(DbkOptions& o, V& v) {
  describe(o.training, v);
  describe(o.backbone, v);
  v("rank", o.rank, "basis functions; raise it if the validation NLL falls", Range{1, 4096}, "N section 4");
  v("basis", o.basis, "the expansion from backbone to basis functions", Choices{{"silu"}}, "N-13");
  v("alpha", o.alpha, "weight of the trace regulariser; raise it when the variance is uneven", Range{0, 1e6},
    "N-15");
  v("beta", o.beta, "weight of the KL term; raise it on small tables", Range{0, 1e6}, "N-15");
  v("focus", o.focus,
    "weights rows by their predictive variance to this power at the start, so that hard rows keep their "
    "gradient; 0 for none",
    Range{0, 2}, "Seitzer et al. 2022");
  v("focus_until", o.focus_until, "share of the steps after which the objective is dPPGP itself", Range{0, 1},
    "experiments/recipe");
  v("noise_start", o.noise_start, "initial noise variance of the standardised target", Range{1e-12, 1e6},
    "N appendix B");
  v("noise_floor", o.noise_floor,
    "least noise variance of the standardised target; raise it where single rows ruin the NLL", Range{0, 1e6},
    "experiments/recipe");
  v("noise_rate", o.noise_rate, "AdamW's peak rate of the log noise variance", Range{1e-8, 10},
    "experiments/recipe");
}

}  // namespace slimbayes
