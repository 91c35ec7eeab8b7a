#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/methods/weight_space/variational_options.h"

namespace slimbayes {

/// Options of the networks whose weights are drawn given a few inducing weights (fid-gp, fid-gp-reparam,
/// ffg-u).
struct InducingOptions {
  VariationalOptions variational = with_annealed_kl();
  double prior_scale = 1;
  int64_t inducing_rows = 0, inducing_columns = 0, output_columns = 0;
  std::vector<std::string> bayesian_layers = {"all"};
  std::vector<std::string> ood_layers = {"auto"};
  double start_noise = 1e-3, most_noise = 0.03;
  double inducing_sd = 1e-3, most_inducing_sd = 0.1;
  double start_diagonal = 1e-3;
  bool noisy_z = false;

  static VariationalOptions with_annealed_kl() {
    VariationalOptions options;
    options.kl_zero = 100;
    options.kl_ramp = 50;
    options.draws = 8;
    return options;
  }
};

/// The largest number of inducing rows or columns.
inline constexpr int64_t kMostInducing = 4096;

template <class V>
void describe(InducingOptions& o, V& v) {
  // The prior belongs to the inducing weights, and biases are columns of their layer's matrix.
  WithoutOptions<V> own{
      v, {"prior", "weight_prior_sd", "narrow_prior_sd", "start_sd", "random_biases", "kl_zero", "kl_ramp"}};
  describe(o.variational, own);
  const std::string shortened = "A run in which less than a quarter of the epochs would follow shortens both";
  v("kl_zero", o.variational.kl_zero,
    "epochs at the start without the KL term, in which the network learns the data before the prior "
    "counts. " +
        shortened,
    Range{0, 1e7}, "FiD-GP section 5");
  v("kl_ramp", o.variational.kl_ramp,
    "epochs after these in which the weight of the KL term rises linearly to beta. " + shortened,
    Range{0, 1e7}, "FiD-GP section 5");
  v("prior_scale", o.prior_scale,
    "prior sd of every weight, as a multiple of 1 / sqrt(inputs of its layer). Lower it for smoother "
    "functions",
    Range{1e-6, 1e6}, "FiD-GP section 5.1");
  v("inducing_rows", o.inducing_rows,
    "rows of the inducing matrix of a layer; the output layer has as many as outputs. A layer of d inputs "
    "and e outputs stores about rows * e + columns * d + 2 * rows * columns numbers. 0: half of the smaller "
    "of both, at least 32 and at most 128, but no more than e",
    Range{0, kMostInducing}, "FiD-GP table 6");
  v("inducing_columns", o.inducing_columns,
    "columns of the inducing matrix of a layer. 0: as for the rows, but no more than d. The mean "
    "of a layer's matrix has at most this rank",
    Range{0, kMostInducing}, "FiD-GP table 6");
  v("output_columns", o.output_columns,
    "columns of the inducing matrix of the output layer. 0: as inducing_columns", Range{0, kMostInducing},
    "FiD-GP table 6");
  v("bayesian_layers", o.bayesian_layers,
    "layers whose weights are random: all, or names such as layer2.1.conv2,layer4.1.conv2. A wrong name "
    "lists those of the network. The others are deterministic. The words of a text always are",
    ValueName{"LAYER"}, "FiD-GP section 6");
  v("ood_layers", o.ood_layers,
    "layers at which the out-of-distribution score of a classifier (evaluate `.ood`) is computed, with names "
    "as in bayesian_layers. auto: two of them, as in the paper where the network is its resnet18",
    ValueName{"LAYER"}, "FiD-GP algorithm 2");
  v("start_noise", o.start_noise,
    "initial scale of a weight's own noise, given the inducing weights; 1 would be that of the prior",
    Range{1e-9, 10}, "FiD-GP section 4");
  v("most_noise", o.most_noise,
    "limit of this scale, above start_noise. Raise it if the epistemic sd is too small", Range{1e-9, 10},
    "FiD-GP section 4");
  v("inducing_sd", o.inducing_sd, "initial posterior sd of an inducing weight", Range{1e-9, 10},
    "FiD-GP section 4");
  v("most_inducing_sd", o.most_inducing_sd, "limit of this sd, above inducing_sd", Range{1e-9, 10},
    "FiD-GP section 4");
  v("start_diagonal", o.start_diagonal,
    "initial sd of an inducing weight that the weights of the layer do not explain", Range{1e-9, 10},
    "FiD-GP section 3");
  v("noisy_z", o.noisy_z,
    "whether each inducing row and column varies around its place, with a trained sd; the paper's code does",
    "FiD-GP");
}

/// Options of `fid-gp` and `fid-gp-reparam`: those of ffg-u, and a flow of the inducing weights.
struct FidGpOptions {
  InducingOptions inducing;
  std::string flow = "certified";
  std::string flow_layers = "all";
};

template <class V>
void describe(FidGpOptions& o, V& v) {
  describe(o.inducing, v);
  v("flow", o.flow,
    "map of the inducing weights that makes their posterior more than a Gaussian. certified: with a "
    "Lipschitz constant of at most 1; paper: with scales that depend on the row, as our reading of the paper "
    "has it, and no such constant; spectral: the same, with every matrix divided by its spectral norm, so "
    "that it does not start at the identity; none",
    Choices{{"certified", "paper", "spectral", "none"}}, "FiD-GP definition 1, equation 8 (spectral)");
  v("flow_layers", o.flow_layers, "layers with a flow", Choices{{"all", "convolutions"}}, "FiD-GP table 6");
}

}  // namespace slimbayes
