// The results of `bounds` as JSON, and as text from this JSON, so that both say the same.
#include "cli/bounds_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/messages.h"
#include "cli/terminal.h"
#include "cli/text_table.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;
using Status = Assumption::Status;

json assumptions_json(const std::vector<Assumption>& assumptions) {
  json all = json::array();
  for (const Assumption& one : assumptions) {
    const char* status = one.status == Status::holds      ? "holds"
                         : one.status == Status::violated ? "violated"
                                                          : "not verifiable";
    all.push_back({{"text", in_flags(one.text)}, {"status", status}});
  }
  return all;
}

json entry(const char* name, const std::string& network, const char* source,
           const std::vector<Assumption>& assumptions, bool certificate) {
  json out = {{"name", name},
              {"source", source},
              {"certificate", certificate},
              {"assumptions", assumptions_json(assumptions)}};
  if (!network.empty()) out["network"] = network;
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

std::string assumptions_text(const json& bound) {
  std::string text = fmt::format("source: {}\n", bound["source"].get<std::string>());
  for (const json& one : bound["assumptions"])
    text += fmt::format("assumes ({}): {}\n", one["status"].get<std::string>(),
                        shown(one["text"].get<std::string>()));
  return text;
}

constexpr const char* kTruncationColumns =
    "R: largest norm of the matrix's input over these rows\n"
    "downstream: product of the Lipschitz constants of the layers after the matrix\n"
    "sigma r+1, tail: spectral and Frobenius norm of what the rank leaves out\n"
    "outputs: the most that the encoded outputs of a row can change: R x downstream x sigma r+1\n"
    "by tail: the same with the tail in place of sigma r+1\n"
    "then the most that each loss of a row can change; errors in the target's units\n";

std::string truncation_text(const json& bound) {
  std::vector<std::vector<Cell>> rows = {
      {{"matrix"}, {"rank"}, {"R"}, {"downstream"}, {"sigma r+1"}, {"tail"}, {"outputs"}, {"by tail"}}};
  for (const json& loss : bound["losses"]) rows[0].push_back({loss["name"].get<std::string>()});
  std::string without;
  for (const json& matrix : bound["matrices"]) {
    const auto name = matrix["name"].get<std::string>();
    if (matrix.contains("no_bound")) {
      without += fmt::format("{}: no bound: {}\n", name, matrix["no_bound"].get<std::string>());
      continue;
    }
    const size_t before = rows.size();
    for (const json& rank : matrix["ranks"]) {
      if (rank["tail"] == 0.0) continue;  // the rank leaves nothing out
      std::vector<Cell>& row =
          rows.emplace_back(std::vector<Cell>{{name}, {std::to_string(rank["rank"].get<int64_t>())}});
      for (const json* number : {&matrix["input_norm"], &matrix["downstream"], &rank["sigma"], &rank["tail"],
                                 &rank["outputs"], &rank["outputs_by_tail"]})
        row.push_back({rounded(number->get<double>())});
      for (const json& loss : bound["losses"])
        row.push_back({rounded(rank["losses"][loss["name"].get<std::string>()].get<double>())});
    }
    if (rows.size() == before) without += name + ": not changed, because it has no higher rank\n";
  }
  return (rows.size() > 1 ? text_table(std::move(rows)) + kTruncationColumns : "") + without +
         (bound["losses"].empty() ? "no bound of a loss: " + bound["no_loss"].get<std::string>() + "\n" : "");
}

std::string certificate_text(const json& bound) {
  const auto number = [&](const char* key) { return rounded(bound[key].get<double>()); };
  std::string text = fmt::format(
      "loss: {}\nrisk of {} drawn networks on {} rows {}; of the posterior at most {}\n"
      "KL(posterior || prior) at most {}; (KL + ln(4 N sqrt(n) / delta)) / n = {}, N = {}, delta = {}\n",
      bound["loss"].get<std::string>(), bound["draws"].get<int64_t>(), bound["rows"].get<int64_t>(),
      number("risk"), number("sampled_risk"), number("kl"), number("complexity"),
      bound["tried"].get<int64_t>(), number("delta"));
  text += fmt::format("expected loss of one drawn network on new rows at most {} (form of D.2: {}){}\n",
                      number("bound"), number("mcallester"),
                      bound["vacuous"].get<bool>() ? "; vacuous: every loss in [0, 1] is at most 1" : "");
  if (bound.contains("held_out"))
    text += fmt::format(
        "at most {} without the prior, by the Chernoff bound; valid if no part of the fit used these rows\n",
        number("held_out"));
  if (bound["certificate"].get<bool>()) {
    text += "a certificate if the assumptions that are not verifiable hold\n";
    return text;
  }
  const auto violated = std::ranges::count(bound["assumptions"], json("violated"),
                                           [](const json& one) { return one["status"]; });
  return text + fmt::format("not a certificate: {} violated\n",
                            violated == 1 ? "an assumption is" : fmt::format("{} assumptions are", violated));
}

std::string complexity_text(const json& bound) {
  return fmt::format(
      "{} with C0 = {}, |X|_F = {}; of the first matrix alone, exact but for sampling: {} (standard error "
      "{}, {} draws)\n"
      "not a certificate: a value to compare networks with\n",
      rounded(bound["value"].get<double>()), rounded(bound["c0"].get<double>()),
      rounded(bound["input_norm"].get<double>()), rounded(bound["first_matrix"].get<double>()),
      rounded(bound["first_matrix_se"].get<double>()), bound["first_matrix_draws"].get<int64_t>());
}

}  // namespace

json bound_json(const Truncation& truncation) {
  json out = entry("truncation", truncation.network,
                   "Toure and Stephens, C.5 and C.6 without learning error, times the Lipschitz constants of "
                   "the layers after the matrix",
                   assumptions_of_truncation(truncation), false);
  out["losses"] = json::array();
  for (const BoundedLoss& loss : truncation.losses) {
    json one = {{"name", loss.name}};
    if (std::isfinite(loss.slope.lipschitz)) one["lipschitz"] = loss.slope.lipschitz;
    if (std::isfinite(loss.slope.smoothness))
      one.update({{"smoothness", loss.slope.smoothness}, {"gradient", loss.slope.gradient}});
    out["losses"].push_back(one);
  }
  if (truncation.losses.empty())
    out["no_loss"] = truncation.answers ? "the loss of counts has no Lipschitz constant"
                                        : "the outputs of the network are not the answers";
  out["matrices"] = json::array();
  for (const MatrixTruncation& matrix : truncation.matrices) {
    json one = {{"name", matrix.name}};
    if (!matrix.unknown.empty()) {
      one["no_bound"] = fmt::format("{} has no useful Lipschitz constant", matrix.unknown);
    } else {
      one.update({{"input_norm", matrix.input_norm}, {"downstream", matrix.downstream}});
      one["ranks"] = json::array();
      for (const RankBound& rank : matrix.ranks) {
        json losses = json::object();
        for (size_t i = 0; i < truncation.losses.size(); ++i)
          losses[truncation.losses[i].name] = rank.loss_changes[i];
        one["ranks"].push_back({{"rank", rank.rank},
                                {"sigma", rank.sigma},
                                {"tail", rank.tail},
                                {"outputs", rank.output_change},
                                {"outputs_by_tail", rank.tail_change},
                                {"losses", losses}});
      }
    }
    out["matrices"].push_back(one);
  }
  return out;
}

json bound_json(const Certificate& certificate, const std::string& network) {
  json out =
      entry("pac_bayes", network,
            "kl form of PAC-Bayes (Seeger 2002, Maurer 2004); Toure and Stephens, D.2, is its weaker form",
            certificate.assumptions, certificate.certified());
  const PacBayesInput& in = certificate.input;
  const PacBayesBound& bound = certificate.bound;
  out.update({{"loss", certificate.loss},
              {"risk", in.risk},
              {"draws", in.draws},
              {"kl", in.kl},
              {"rows", in.rows},
              {"tried", in.tried},
              {"delta", in.delta},
              {"sampled_risk", bound.sampled},
              {"complexity", bound.complexity},
              {"bound", bound.seeger},
              {"mcallester", bound.mcallester},
              {"vacuous", bound.seeger >= 1}});
  if (certificate.held_out) out["held_out"] = *certificate.held_out;
  return out;
}

json bound_json(const NetworkComplexity& complexity, double c0, const std::string& network) {
  json out = entry(
      "gaussian_complexity", network,
      "Toure and Stephens, E.17 after Pinto et al. 2025, with every term carrying all norms (as printed it "
      "is wrong)",
      {{Status::violated,
        "the factors have bounded support (E.4): those of Gaussian and Laplace laws have not"},
       {Status::violated, "the norms C_i were fixed before the rows: they are those of the mean weights"},
       {Status::unknown, "C0 is the constant of the chain rule for Gaussian averages"},
       {Status::violated, "the layers have no biases: those of this network are not counted"}},
      false);
  json norms = json::array();
  for (const ComplexityLayer& layer : complexity.layers)
    norms.push_back({{"out", layer.out}, {"rank", layer.rank}, {"norm", layer.spectral}});
  out.update({{"value", complexity.value},
              {"c0", c0},
              {"input_norm", complexity.input_norm},
              {"layers", norms},
              {"first_matrix", complexity.first.mean},
              {"first_matrix_se", complexity.first.se},
              {"first_matrix_draws", complexity.draws}});
  return out;
}

json without_bound(const std::string& name, const std::string& network, const std::string& reason) {
  json out = {{"name", name}, {"certificate", false}, {"assumptions", json::array()}, {"no_bound", reason}};
  if (!network.empty()) out["network"] = network;
  return out;
}

std::string bound_text(const json& bound) {
  const auto name = bound["name"].get<std::string>();
  const std::string of = bound.contains("network") ? ", " + bound["network"].get<std::string>() : "";
  if (bound.contains("no_bound"))
    return fmt::format("{}{}\nno value: {}\n", name, of, bound["no_bound"].get<std::string>());
  const std::string numbers = name == "truncation"  ? truncation_text(bound)
                              : name == "pac_bayes" ? certificate_text(bound)
                                                    : complexity_text(bound);
  return fmt::format("{}{}\n{}{}", name, of, numbers, assumptions_text(bound));
}

}  // namespace slimbayes::cli
