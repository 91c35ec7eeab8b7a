#pragma once

#include <string>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// How the hyperparameters of a posterior around a trained network are chosen (bll, rich-bll,
/// last-layer-laplace, ntk-gp).
struct PosteriorChoiceOptions {
  std::string select = "nll";
  std::string noise = "select";
  std::string prior = "unit";
  double prior_sd = 1;
};

template <class V>
void describe(PosteriorChoiceOptions& o, V& v) {
  v("select", o.select,
    "what chooses the prior sd if prior is select. nll: least validation NLL; evidence: largest Laplace "
    "evidence of the training rows (for classes, with last-layer-laplace only), whose noise is the "
    "validation "
    "MSE",
    Choices{{"nll", "evidence"}}, "R appendix C; MacKay 1992 (evidence)");
  v("noise", o.noise,
    "the noise variance of a regression (for classes it does nothing). select: the one with the least "
    "validation NLL, unless --select evidence; mse: the validation MSE, as in the paper",
    Choices{{"select", "mse"}}, "R appendix C");
  v("prior", o.prior,
    "prior sd of the network's weights. unit: such that the answer's prior sd, by the last layer alone, is "
    "that "
    "of the target (1 for logits) on average over the training rows; select: chosen as select says, which by "
    "nll may end near 0 where the validation rows lie among the training rows; fixed: prior_sd",
    Choices{{"unit", "select", "fixed"}}, "slimbayes");
  v("prior_sd", o.prior_sd, "prior sd of every weight if prior is fixed; the paper's is 1", Range{1e-9, 1e9},
    "R section 3.1");
}

/// How the posterior of a network's last layer is computed (bll, rich-bll).
struct LastLayerOptions {
  PosteriorChoiceOptions choice;
  double class_noise = 0.1;
  int64_t class_rows = 1024;
  double subsample = 0;
  bool refit = false;
  std::string mean = "network";
};

template <class V>
void describe(LastLayerOptions& o, V& v) {
  describe(o.choice, v);
  v("class_noise", o.class_noise, "classes: noise variance of a row in the posterior of its class's logit",
    Range{1e-12, 1e6}, "R appendix C");
  v("class_rows", o.class_rows, "classes: training rows per class, at most, in the posterior of its logit",
    Range{1, 1e9}, "R appendix C");
  v("subsample", o.subsample,
    "training rows that the variance is computed from: a number, or a share below 1; 0 for all. Lower it on "
    "large data; take at least three times the features of the last layer",
    Range{0, 1e9}, "R section 3.3");
  v("refit", o.refit,
    "whether the network is trained again on training and validation rows, for the number of epochs that the "
    "validation chose; with --network-from, whether the posterior takes the validation rows too, which needs "
    "noise mse or select evidence",
    "R appendix C");
  v("mean", o.mean,
    "mean of a regression. network: the network's own answer; posterior: adds the posterior mean of the "
    "residual y - network(x), so that rows of `update` change the mean, too",
    Choices{{"network", "posterior"}}, "R appendix C.1 (network)");
}

}  // namespace slimbayes
