#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"
#include "slimbayes/theory/certificate.h"
#include "slimbayes/theory/network_complexity.h"
#include "slimbayes/theory/truncation.h"

namespace slimbayes::cli {

// The results of `bounds` as structs (catalog/fields.h), from which JSON and text derive.

struct AssumptionFact {
  std::string text, status;
};

template <class V>
void describe(AssumptionFact& f, V& v) {
  v("text", f.text, "what is assumed");
  v("status", f.status, "holds, violated, or not verifiable");
}

/// The constants of a loss as a function of the network's outputs.
struct LossFact {
  std::string name = {};
  std::optional<double> lipschitz = {}, smoothness = {}, gradient = {};
};

template <class V>
void describe(LossFact& f, V& v) {
  v("name", f.name, "name of the loss");
  v("lipschitz", f.lipschitz, "Lipschitz constant of the loss; absent if it has none");
  v("smoothness", f.smoothness, "Lipschitz constant of the loss's gradient; absent if it has none");
  v("gradient", f.gradient, "largest norm of the gradient over the rows");
}

/// What one lower rank of a matrix changes.
struct RankFact {
  int64_t rank = 0;
  double sigma = 0, tail = 0, outputs = 0, outputs_by_tail = 0;
  std::map<std::string, double> losses = {};
};

template <class V>
void describe(RankFact& f, V& v) {
  v("rank", f.rank, "the lower rank");
  v("sigma", f.sigma, "spectral norm of what the rank leaves out");
  v("tail", f.tail, "Frobenius norm of what the rank leaves out");
  v("outputs", f.outputs, "the most that the encoded outputs of a row can change");
  v("outputs_by_tail", f.outputs_by_tail, "the same with the tail in place of sigma");
  v("losses", f.losses,
    "the most that each loss of a row can change, by its name; errors in the target's units");
}

struct MatrixBounds {
  double input_norm = 0, downstream = 0;
  std::vector<RankFact> ranks = {};
};

template <class V>
void describe(MatrixBounds& f, V& v) {
  v("input_norm", f.input_norm, "largest norm of the matrix's input over the rows");
  v("downstream", f.downstream, "product of the Lipschitz constants of the layers after the matrix");
  v("ranks", f.ranks, "the lower ranks");
}

struct MatrixFact {
  std::string name = {};
  std::optional<std::string> no_bound = {};
  std::optional<MatrixBounds> bounds = {};
};

template <class V>
void describe(MatrixFact& f, V& v) {
  v("name", f.name, "name of the matrix");
  v("no_bound", f.no_bound, "why the matrix has no bound");
  v.part(f.bounds);
}

struct TruncationFact {
  std::vector<LossFact> losses = {};
  std::optional<std::string> no_loss = {};
  std::vector<MatrixFact> matrices = {};
};

template <class V>
void describe(TruncationFact& f, V& v) {
  v("losses", f.losses, "the losses whose change is bounded");
  v("no_loss", f.no_loss, "why no loss is bounded");
  v("matrices", f.matrices, "the matrices of the network");
}

struct PacBayesFact {
  std::string loss = {};
  double risk = 0;
  int64_t draws = 0;
  double kl = 0;
  int64_t rows = 0, tried = 0;
  double delta = 0, sampled_risk = 0, complexity = 0, bound = 0, mcallester = 0;
  bool vacuous = false;
  std::optional<double> held_out = {};
};

template <class V>
void describe(PacBayesFact& f, V& v) {
  v("loss", f.loss, "the loss, in [0, 1]");
  v("risk", f.risk, "mean loss of the drawn networks on the rows");
  v("draws", f.draws, "number of drawn networks");
  v("kl", f.kl, "bound of KL(posterior || prior), in nats");
  v("rows", f.rows, "number of rows n");
  v("tried", f.tried, "number N of priors that were tried");
  v("delta", f.delta, "probability with which the bound may fail");
  v("sampled_risk", f.sampled_risk, "bound of the posterior's risk on these rows");
  v("complexity", f.complexity, "(KL + ln(4 N sqrt(n) / delta)) / n");
  v("bound", f.bound, "bound of the expected loss of one drawn network on new rows");
  v("mcallester", f.mcallester, "the weaker form of the bound, Toure and Stephens, D.2");
  v("vacuous", f.vacuous, "whether the bound is at least 1, which every such loss is below");
  v("held_out", f.held_out, "Chernoff bound without the prior, for rows that no part of the fit used");
}

struct ComplexityLayerFact {
  int64_t out = 0, rank = 0;
  double norm = 0;
};

template <class V>
void describe(ComplexityLayerFact& f, V& v) {
  v("out", f.out, "outputs of the layer");
  v("rank", f.rank, "rank of its matrix");
  v("norm", f.norm, "spectral norm of its matrix");
}

struct ComplexityFact {
  double value = 0, c0 = 0, input_norm = 0;
  std::vector<ComplexityLayerFact> layers = {};
  double first_matrix = 0, first_matrix_se = 0;
  int64_t first_matrix_draws = 0;
};

template <class V>
void describe(ComplexityFact& f, V& v) {
  v("value", f.value, "bound of the Gaussian complexity");
  v("c0", f.c0, "constant of the chain rule for Gaussian averages");
  v("input_norm", f.input_norm, "Frobenius norm of the inputs of the rows");
  v("layers", f.layers, "the layers with a matrix");
  v("first_matrix", f.first_matrix, "Gaussian complexity of the first matrix alone, sampled");
  v("first_matrix_se", f.first_matrix_se, "its standard error");
  v("first_matrix_draws", f.first_matrix_draws, "number of its draws");
}

/// One bound, or the reason why there is none.
struct BoundFact {
  std::string name = {};
  std::optional<std::string> network = {};
  std::optional<std::string> source = {};
  bool certificate = false;
  std::vector<AssumptionFact> assumptions = {};
  std::optional<std::string> no_bound = {};
  std::optional<TruncationFact> truncation = {};
  std::optional<PacBayesFact> pac_bayes = {};
  std::optional<ComplexityFact> complexity = {};
};

template <class V>
void describe(BoundFact& f, V& v) {
  v("name", f.name, "truncation, pac_bayes or gaussian_complexity");
  v("network", f.network, "name of the member of an ensemble");
  v("source", f.source, "where the bound comes from");
  v("certificate", f.certificate, "whether the bound is a certificate: no assumption is violated");
  v("assumptions", f.assumptions, "what the bound assumes");
  v("no_bound", f.no_bound, "why there is no value");
  v.part(f.truncation);
  v.part(f.pac_bayes);
  v.part(f.complexity);
}

/// What `bounds` says of a model on data.
struct BoundsReport {
  std::string method = {};
  int64_t rows = 0;
  std::optional<std::string> split = {};
  std::vector<BoundFact> bounds = {};
};

template <class V>
void describe(BoundsReport& f, V& v) {
  v("method", f.method, "name of the method");
  v("rows", f.rows, "number of rows");
  v("split", f.split, "the part of the fit's data that the rows are");
  v("bounds", f.bounds, "the bounds, in turn for each network");
}

/// Return what `bounds` says of a bound. `network` names the member of an ensemble; else it is "".
BoundFact bound_fact(const Truncation& truncation);
BoundFact bound_fact(const Certificate& certificate, const std::string& network);
BoundFact bound_fact(const NetworkComplexity& complexity, double c0, const std::string& network);

/// Returns the entry of a bound that cannot be computed, with the reason in words.
BoundFact without_bound(const std::string& name, const std::string& network, const std::string& reason);

/// Returns a bound as text for a reader.
std::string bound_text(const BoundFact& bound);

}  // namespace slimbayes::cli
