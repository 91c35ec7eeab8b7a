// The results of `bounds` as structs, and as text from them. JSON derives from the same structs, so that both
// say the same.
#include "cli/bounds_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/messages.h"
#include "cli/terminal.h"
#include "cli/text_table.h"

namespace slimbayes::cli {
namespace {

using Status = Assumption::Status;

std::optional<std::string> name_if_any(const std::string& network) {
  return network.empty() ? std::nullopt : std::optional(network);
}

constexpr const char* kViolated = "violated";

BoundFact entry(const char* name, const std::string& network, const char* source,
                const std::vector<Assumption>& assumptions, bool certificate) {
  BoundFact out{name, name_if_any(network), source, certificate};
  for (const Assumption& one : assumptions)
    out.assumptions.push_back({in_flags(one.text), one.status == Status::holds      ? "holds"
                                                   : one.status == Status::violated ? kViolated
                                                                                    : "not verifiable"});
  return out;
}

std::vector<Assumption> assumptions_of_truncation(const Truncation& truncation) {
  std::vector<Assumption> all = {
      {Status::holds, "the largest norm R of the layer's input is that over these rows"},
      {Status::unknown,
       "other rows have no larger norms and slopes: the bound is proven for these rows only"},
      {Status::holds,
       "one matrix is replaced, by its best approximation of the rank; for several, the bounds of the "
       "outputs add up"}};
  if (!truncation.answers)
    all.push_back({Status::violated,
                   "the answers are the outputs of the network: it makes features, or the answers add a "
                   "posterior mean or come from other weights; the bound is for the outputs alone"});
  if (truncation.averaged)
    all.push_back({Status::violated,
                   "the answers come from one network alone: they average over several networks or over "
                   "Gaussian logits, and the bound is for this network (random weights: with their means)"});
  return all;
}

std::string assumptions_text(const BoundFact& bound) {
  std::string text = fmt::format("source: {}\n", bound.source.value_or(""));
  for (const AssumptionFact& one : bound.assumptions)
    text += fmt::format("assumes ({}): {}\n", one.status, shown(one.text));
  return text;
}

constexpr const char* kTruncationColumns =
    "R: largest norm of the matrix's input over these rows\n"
    "downstream: product of the Lipschitz constants of the layers after the matrix\n"
    "sigma r+1, tail: spectral and Frobenius norm of what the rank leaves out\n"
    "outputs: the most that the encoded outputs of a row can change: R x downstream x sigma r+1\n"
    "by tail: the same with the tail in place of sigma r+1\n"
    "then the most that each loss of a row can change; errors in the target's units\n";

/// Appends a line for each rank of a matrix that leaves something out. Returns whether there is one.
bool add_ranks(const std::string& name, const MatrixBounds& matrix, const std::vector<LossFact>& losses,
               std::vector<std::vector<Cell>>& rows) {
  const size_t before = rows.size();
  for (const RankFact& rank : matrix.ranks) {
    if (rank.tail == 0) continue;
    std::vector<Cell>& row = rows.emplace_back(std::vector<Cell>{{name}, {std::to_string(rank.rank)}});
    for (double number :
         {matrix.input_norm, matrix.downstream, rank.sigma, rank.tail, rank.outputs, rank.outputs_by_tail})
      row.push_back({rounded(number)});
    for (const LossFact& loss : losses) row.push_back({rounded(rank.losses.at(loss.name))});
  }
  return rows.size() > before;
}

std::string truncation_text(const TruncationFact& bound) {
  std::vector<std::vector<Cell>> rows = {
      {{"matrix"}, {"rank"}, {"R"}, {"downstream"}, {"sigma r+1"}, {"tail"}, {"outputs"}, {"by tail"}}};
  for (const LossFact& loss : bound.losses) rows[0].push_back({loss.name});
  std::string without;
  for (const MatrixFact& matrix : bound.matrices) {
    if (matrix.no_bound)
      without += fmt::format("{}: no bound: {}\n", matrix.name, *matrix.no_bound);
    else if (!add_ranks(matrix.name, *matrix.bounds, bound.losses, rows))
      without += matrix.name + ": not changed, because it has no higher rank\n";
  }
  return (rows.size() > 1 ? text_table(std::move(rows)) + kTruncationColumns : "") + without +
         (bound.no_loss ? "no bound of a loss: " + *bound.no_loss + "\n" : "");
}

std::string certificate_text(const BoundFact& fact) {
  const PacBayesFact& bound = *fact.pac_bayes;
  std::string text = fmt::format(
      "loss: {}\nrisk of {} drawn networks on {} rows {}; of the posterior at most {}\n"
      "KL(posterior || prior) at most {}; (KL + ln(4 N sqrt(n) / delta)) / n = {}, N = {}, delta = {}\n",
      bound.loss, bound.draws, bound.rows, rounded(bound.risk), rounded(bound.sampled_risk),
      rounded(bound.kl), rounded(bound.complexity), bound.tried, rounded(bound.delta));
  text += fmt::format("expected loss of one drawn network on new rows at most {} (form of D.2: {}){}\n",
                      rounded(bound.bound), rounded(bound.mcallester),
                      bound.vacuous ? "; vacuous: every loss in [0, 1] is at most 1" : "");
  if (bound.held_out)
    text += fmt::format(
        "at most {} without the prior, by the Chernoff bound; valid if no part of the fit used these rows\n",
        rounded(*bound.held_out));
  if (fact.certificate) {
    text += "a certificate if the assumptions that are not verifiable hold\n";
    return text;
  }
  const auto violated = std::ranges::count(fact.assumptions, kViolated, &AssumptionFact::status);
  return text + fmt::format("not a certificate: {} violated\n",
                            violated == 1 ? "an assumption is" : fmt::format("{} assumptions are", violated));
}

std::string complexity_text(const ComplexityFact& bound) {
  return fmt::format(
      "{} with C0 = {}, |X|_F = {}; of the first matrix alone, exact but for sampling: {} (standard error "
      "{}, {} draws)\n"
      "not a certificate: a value to compare networks with\n",
      rounded(bound.value), rounded(bound.c0), rounded(bound.input_norm), rounded(bound.first_matrix),
      rounded(bound.first_matrix_se), bound.first_matrix_draws);
}

MatrixFact matrix_fact(const MatrixTruncation& matrix, const std::vector<BoundedLoss>& losses) {
  if (!matrix.unknown.empty())
    return {matrix.name, fmt::format("{} has no useful Lipschitz constant", matrix.unknown)};
  MatrixBounds bounds{matrix.input_norm, matrix.downstream};
  for (const RankBound& rank : matrix.ranks) {
    RankFact fact{rank.rank, rank.sigma, rank.tail, rank.output_change, rank.tail_change};
    for (size_t i = 0; i < losses.size(); ++i) fact.losses[losses[i].name] = rank.loss_changes[i];
    bounds.ranks.push_back(std::move(fact));
  }
  return {matrix.name, std::nullopt, std::move(bounds)};
}

}  // namespace

BoundFact bound_fact(const Truncation& truncation) {
  BoundFact out =
      entry("truncation", truncation.network,
            "Toure and Stephens, C.5 and C.6 without learning error, times the Lipschitz constants "
            "of the layers after the matrix",
            assumptions_of_truncation(truncation), false);
  TruncationFact& fact = out.truncation.emplace();
  for (const BoundedLoss& loss : truncation.losses) {
    LossFact one{loss.name};
    if (std::isfinite(loss.slope.lipschitz)) one.lipschitz = loss.slope.lipschitz;
    if (std::isfinite(loss.slope.smoothness)) {
      one.smoothness = loss.slope.smoothness;
      one.gradient = loss.slope.gradient;
    }
    fact.losses.push_back(std::move(one));
  }
  if (truncation.losses.empty())
    fact.no_loss = truncation.answers ? "the loss of counts has no Lipschitz constant"
                                      : "the outputs of the network are not the answers";
  for (const MatrixTruncation& matrix : truncation.matrices)
    fact.matrices.push_back(matrix_fact(matrix, truncation.losses));
  return out;
}

BoundFact bound_fact(const Certificate& certificate, const std::string& network) {
  BoundFact out =
      entry("pac_bayes", network,
            "kl form of PAC-Bayes (Seeger 2002, Maurer 2004); Toure and Stephens, D.2, is its weaker form",
            certificate.assumptions, certificate.certified());
  const PacBayesInput& in = certificate.input;
  const PacBayesBound& bound = certificate.bound;
  out.pac_bayes = PacBayesFact{.loss = certificate.loss,
                               .risk = in.risk,
                               .draws = in.draws,
                               .kl = in.kl,
                               .rows = in.rows,
                               .tried = in.tried,
                               .delta = in.delta,
                               .sampled_risk = bound.sampled,
                               .complexity = bound.complexity,
                               .bound = bound.seeger,
                               .mcallester = bound.mcallester,
                               .vacuous = bound.seeger >= 1,
                               .held_out = certificate.held_out};
  return out;
}

BoundFact bound_fact(const NetworkComplexity& complexity, double c0, const std::string& network) {
  BoundFact out = entry(
      "gaussian_complexity", network,
      "Toure and Stephens, E.17 after Pinto et al. 2025, with every term carrying all norms (as printed it "
      "is wrong)",
      {{Status::violated,
        "the factors have bounded support (E.4): those of Gaussian and Laplace laws have not"},
       {Status::violated, "the norms C_i were fixed before the rows: they are those of the mean weights"},
       {Status::unknown, "C0 is the constant of the chain rule for Gaussian averages"},
       {Status::violated, "the layers have no biases: those of this network are not counted"}},
      false);
  ComplexityFact& fact = out.complexity.emplace();
  fact.value = complexity.value;
  fact.c0 = c0;
  fact.input_norm = complexity.input_norm;
  for (const ComplexityLayer& layer : complexity.layers)
    fact.layers.push_back({layer.out, layer.rank, layer.spectral});
  fact.first_matrix = complexity.first.mean;
  fact.first_matrix_se = complexity.first.se;
  fact.first_matrix_draws = complexity.draws;
  return out;
}

BoundFact without_bound(const std::string& name, const std::string& network, const std::string& reason) {
  BoundFact out{name, name_if_any(network)};
  out.no_bound = reason;
  return out;
}

std::string bound_text(const BoundFact& bound) {
  const std::string of = bound.network ? ", " + *bound.network : "";
  if (bound.no_bound) return fmt::format("{}{}\nno value: {}\n", bound.name, of, *bound.no_bound);
  const std::string numbers = bound.truncation  ? truncation_text(*bound.truncation)
                              : bound.pac_bayes ? certificate_text(bound)
                                                : complexity_text(*bound.complexity);
  return fmt::format("{}{}\n{}{}", bound.name, of, numbers, assumptions_text(bound));
}

}  // namespace slimbayes::cli
