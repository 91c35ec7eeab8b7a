#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Returns the logarithmic pool of several answers to the same n rows: the probability of a class is
/// proportional to prod_k p_k^w_k (Genest and Zidek 1986, Combining probability distributions, section 3.1).
/// Answers that are sure for different reasons are surer together; their mean (answers/mixture.h) is less
/// sure than they are. If the weights sum to s, the pool also applies the temperature 1 / s. A probability
/// counts as at least 1e-12, so that no answer alone rules out a class. The expected entropy has the share of
/// the predictive entropy that it has in the mixture with these weights. `weights` [k], each > 0. Throws
/// std::invalid_argument as mixture.
Classes log_pool(const std::vector<Classes>& parts, const std::vector<double>& weights);

/// Returns the weights [k] of the logarithmic pool, each >= 0, with the best log score of the held-out
/// classes y [n], each row counted `rows` [n] times (Dataset::weights; undefined: once), under a prior N(1 /
/// k, 1) for each weight. The objective is concave: with the logarithms of the probabilities as inputs it is
/// that of multinomial logistic regression with one coefficient an input. By projected Newton steps
/// (Bertsekas 1982). Throws std::invalid_argument if there are no parts, if the shapes differ, or for a y
/// that is no class.
std::vector<double> log_pool_weights(const std::vector<Classes>& parts, const at::Tensor& y,
                                     const at::Tensor& rows = {});

}  // namespace slimbayes
