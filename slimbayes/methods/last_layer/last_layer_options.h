#pragma once

#include <string>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

/// Options on how the prior sd and the noise of a posterior are chosen. They belong to the methods that add a
/// posterior to a trained network: bll, rich-bll, last-layer-laplace, ntk-gp.
struct PosteriorChoiceOptions {
  std::string select = "nll";
  std::string noise = "select";
  std::string prior = "unit";
  double prior_sd = 1;
};

template <class V>
void describe(PosteriorChoiceOptions& o, V& v) {
  v("select", o.select,
    "how the prior sd is chosen if prior is select. nll: the one with the least validation NLL; evidence: "
    "the one with the largest Laplace evidence of the training rows, whose noise is the validation MSE (for "
    "classes with last-layer-laplace only)",
    Choices{{"nll", "evidence"}}, "R appendix C; MacKay 1992 (evidence)");
  v("noise", o.noise,
    "noise variance of a regression; classes do not use it. select: the one with the least validation NLL, "
    "but the validation MSE with select evidence; mse: the validation MSE, as in the paper",
    Choices{{"select", "mse"}}, "R appendix C");
  v("prior", o.prior,
    "prior sd of the network's weights. unit: the one with which the last layer gives the answers, on "
    "average over the training rows, a prior sd equal to that of the target (1 for logits); select: chosen "
    "by the option select (nll may choose nearly 0 if the validation rows lie among the training rows); "
    "fixed: the value of prior_sd",
    Choices{{"unit", "select", "fixed"}}, "slimbayes");
  v("prior_sd", o.prior_sd, "prior sd of every weight if prior is fixed; the paper's is 1", Range{1e-9, 1e9},
    "R section 3.1");
}

/// Options on how bll and rich-bll compute the posterior of a network's last layer.
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
  v("class_rows", o.class_rows,
    "classes: largest number of training rows per class in the posterior of its logit", Range{1, 1e9},
    "R appendix C");
  v("subsample", o.subsample,
    "number of training rows that the variance is computed from, or a share below 1; 0: all. Set it on large "
    "data, to at least three times the number of features of the last layer",
    Range{0, 1e9}, "R section 3.3");
  v("refit", o.refit,
    "train the network again on training and validation rows, for the number of epochs that the validation "
    "chose. With `.network_from`, add the validation rows to the posterior only; this needs noise mse or "
    "select evidence",
    "R appendix C");
  v("mean", o.mean,
    "mean of a regression. network: the network's own answer; posterior: plus the posterior mean of the "
    "residual y - network(x); `update` then changes the mean too",
    Choices{{"network", "posterior"}}, "R appendix C.1 (network)");
}

}  // namespace slimbayes
