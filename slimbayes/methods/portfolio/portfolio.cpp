#include "slimbayes/methods/portfolio/portfolio.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/stored_parts.h"

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr const char* kPortfolio = "portfolio";
constexpr const char *kRowScale = "row_scale", *kRowScaleRange = "row_scale.range";
constexpr int64_t kMostCandidateMembers = 1000;

std::string prefix_of(size_t candidate) { return fmt::format("candidate.{}.", candidate); }
std::string prefix_of(size_t candidate, size_t member) {
  return fmt::format("candidate.{}.member.{}.", candidate, member);
}

json facts_of(const TriedCandidate& tried) {
  json facts = {{"method", tried.candidate.method},
                {"options", tried.candidate.options},
                {"log", tried.candidate.warp == TargetWarp::log},
                {"copies", tried.candidate.copies},
                {"members", tried.members.size()},
                {"left_out", tried.left_out},
                {"for_time", tried.for_time},
                {"weight", tried.weight},
                {"of_folds", tried.of_folds},
                {"cut", tried.cut},
                {"factor", tried.tempering.factor}};
  if (!tried.row_scale.constant())  // for `describe`: the factors of the sd; the fit is in the tensors
    facts["sd_by_row"] = {std::exp(0.5 * tried.row_scale.low), std::exp(0.5 * tried.row_scale.high)};
  if (!tried.candidate.network.empty()) facts["network"] = tried.candidate.network;
  if (std::isfinite(tried.tempering.dof)) facts["dof"] = tried.tempering.dof;
  if (tried.tempering.wild_share > 0) {
    facts["wild_share"] = tried.tempering.wild_share;
    facts["wild_factor"] = tried.tempering.wild_factor;
  }
  if (tried.power != 1) facts["power"] = tried.power;
  if (std::isfinite(tried.nll)) facts["nll"] = tried.nll;
  return facts;
}

/// Returns a finite number of the object, at least `least`; `fallback` if the key is absent.
double number_of(const json& facts, const char* key, double least, double fallback) {
  if (!facts.contains(key)) return fallback;
  const json& value = facts[key];
  const bool sane = value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= least;
  if (!sane)
    refuse("load", fmt::format("a finite {} of at least {:g}", key, least), value.dump(),
           "the model file is damaged");
  return value.get<double>();
}

TriedCandidate tried_of(const json& facts) {
  if (!(facts.is_object() && facts.contains("method") && facts["method"].is_string() &&
        facts.contains("options") && facts.contains("log") && facts["log"].is_boolean() &&
        facts.contains("left_out") && facts["left_out"].is_string() && facts.contains("of_folds") &&
        facts["of_folds"].is_boolean()))
    refuse("load", "a candidate with method, options, log, of_folds and left_out", facts.dump().substr(0, 80),
           "the model file is damaged");
  const MethodInfo& info = find_method(facts["method"].get<std::string>());
  check(info.name != "auto", "load", "a candidate other than auto", "auto", "the model file is damaged");
  TriedCandidate tried;
  tried.candidate = {info.name, info.resolve(facts["options"]),
                     facts["log"].get<bool>() ? TargetWarp::log : TargetWarp::none,
                     static_cast<int64_t>(number_of(facts, "copies", 1, 1))};
  if (facts.contains("network")) {
    check(facts["network"].is_string(), "load", "the name of a candidate's network", "another value",
          "the model file is damaged");
    tried.candidate.network = facts["network"].get<std::string>();
  }
  tried.left_out = facts["left_out"].get<std::string>();
  tried.of_folds = facts["of_folds"].get<bool>();
  tried.for_time = facts.value("for_time", false);
  tried.cut = facts.value("cut", false);
  tried.weight = number_of(facts, "weight", 0, 0);
  tried.tempering.factor = number_of(facts, "factor", 1e-300, 1);
  tried.tempering.dof = number_of(facts, "dof", 2 + 1e-9, std::numeric_limits<double>::infinity());
  tried.tempering.wild_share = number_of(facts, "wild_share", 0, 0);
  tried.tempering.wild_factor = number_of(facts, "wild_factor", 1, 1);
  tried.power = number_of(facts, "power", kLeastPower, 1);
  if (!(tried.power <= kMostPower))
    refuse("load", "a power of probabilities from .1 to 10", fmt::format("{}", tried.power),
           "the model file is damaged");
  check(tried.tempering.wild_share < 1 &&
            (tried.tempering.wild_share == 0 ||
             (tried.tempering.wild_factor > 1 && std::isinf(tried.tempering.dof))),
        "load", "a share below 1 of wild rows", "another", "the model file is damaged");
  tried.nll = number_of(facts, "nll", -1e300, std::numeric_limits<double>::quiet_NaN());
  return tried;
}

void store_row_scale(const RowScale& scale, TensorFile& file) {
  if (scale.constant()) return;
  file.tensors[kRowScale] = to_stored(at::stack({scale.centre, scale.spread, scale.weights}));
  file.tensors[kRowScaleRange] =
      to_stored(at::tensor({scale.low, scale.high, scale.seen_epistemic}, at::kDouble));
}

RowScale stored_row_scale(const TensorFile& file) {
  if (!file.tensors.contains(kRowScale)) return {};
  const at::Tensor all = stored_tensor(file, kRowScale).to(at::kDouble),
                   range = stored_tensor(file, kRowScaleRange).to(at::kDouble);
  check_shape(all, {3, -1}, "load", kRowScale);
  check_finite(all, "load", kRowScale);
  check_shape(range, {3}, "load", kRowScaleRange);
  const auto part = [&](int64_t i) { return all[i].clone(); };  // aligned as after the fit, for equal bits
  const RowScale scale{
      part(0), part(1), part(2), range[0].item<double>(), range[1].item<double>(), range[2].item<double>()};
  check((scale.spread > 0).all().item<bool>() && scale.low <= scale.high && std::abs(scale.low) < 100 &&
            std::abs(scale.high) < 100 && scale.seen_epistemic >= 0,
        "load", "scales above 0 and a range", "others", "the model file is damaged");
  return scale;
}

}  // namespace

std::vector<TriedCandidate> untried(const std::vector<Candidate>& candidates) {
  std::vector<TriedCandidate> all;
  for (const Candidate& candidate : candidates) {
    all.emplace_back().candidate = candidate;
    all.back().number = all.size() - 1;
  }
  return all;
}

at::Tensor scale_features(const Dataset& rows, const at::Tensor& mean) {
  check(rows.schema.input.is_vector(), "auto", "vectors of numbers for a noise by row", "other inputs",
        "the model file is damaged");
  return at::cat({rows.all().inputs.at(0).to(at::kDouble), mean.to(at::kDouble).unsqueeze(1)}, 1);
}

std::vector<Predictive> member_answers(const TriedCandidate& tried,
                                       const std::vector<std::shared_ptr<const Fitted>>& members,
                                       const Dataset& rows, const PredictOptions& options) {
  const Dataset own = rows_in_view(tried.view, rows);
  std::vector<Predictive> answers;
  const auto k = static_cast<double>(members.size());
  for (const auto& member : members) {
    const auto i = static_cast<double>(answers.size());
    answers.push_back(member->predict(own, options.within(i / k, (i + 1) / k)));
  }
  return answers;
}

Predictive candidate_answer(const TriedCandidate& tried, std::vector<Predictive> answers,
                            const Dataset& rows) {
  Tempering by = tried.tempering;
  double power = tried.power;
  std::vector<Regression> calibrated;  // of members without one fold each
  for (Predictive& answer : answers) {
    if (auto* r = std::get_if<Regression>(&answer); r != nullptr && !tried.row_scale.constant())
      *r = scaled_rows(tried.row_scale, scale_features(rows, r->mean), *r);
    if (!tried.of_folds) continue;
    if (auto* c = std::get_if<Classes>(&answer)) *c = tempered(*c, power);
    auto* r = std::get_if<Regression>(&answer);
    if (r == nullptr) continue;
    r->aleatoric_var = by.factor * r->aleatoric_var;
    r->epistemic_var = by.factor * r->epistemic_var;
    calibrated.push_back(*r);
  }
  if (tried.of_folds) by.factor = power = 1;
  const auto pool = [&]() -> Predictive {
    if (answers.size() == 1) return answers.front();
    return calibrated.empty() ? mixture(answers) : bagged_mixture(calibrated);
  };
  const Predictive whole = answer_in_target_units(tried.view, pool());
  if (const auto* r = std::get_if<Regression>(&whole)) return tempered(*r, by);
  if (const auto* c = std::get_if<Classes>(&whole)) return tempered(*c, power);
  return whole;
}

void store_portfolio(const std::vector<TriedCandidate>& all, TensorFile& file) {
  json list = json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    list.push_back(facts_of(all[i]));
    TensorFile view;
    store_view(all[i].view, view);
    store_row_scale(all[i].row_scale, view);
    store_under(prefix_of(i), std::move(view), file);
    for (size_t k = 0; k < all[i].members.size(); ++k)
      store_under(prefix_of(i, k), all[i].members[k]->save(), file);
  }
  file.metadata[kPortfolio] = list.dump();
}

std::vector<TriedCandidate> stored_portfolio(const TensorFile& file) {
  const json list = stored_json(file, kPortfolio);
  check(list.is_array(), "load", "a list of candidates", "another value", "the model file is damaged");
  std::vector<TriedCandidate> all;
  for (const json& facts : list) {
    const size_t i = all.size();
    TriedCandidate tried = tried_of(facts);
    const TensorFile own_part = part_under(prefix_of(i), file);
    tried.view = stored_view(own_part);
    tried.row_scale = stored_row_scale(own_part);
    const auto count = static_cast<int64_t>(number_of(facts, "members", 0, 0));
    check(count == 0 || tried.view.warp == tried.candidate.warp, "load", "a view of the candidate's target",
          "another", "the model file is damaged");
    if (!(count <= kMostCandidateMembers))
      refuse("load", fmt::format("at most {} members", kMostCandidateMembers), std::to_string(count),
             "the model file is damaged");
    const RegistryRow& row = registry_row(tried.candidate.method);
    for (size_t k = 0; k < static_cast<size_t>(count); ++k) {
      tried.members.push_back(row.load(part_under(prefix_of(i, k), file)));
    }
    all.push_back(std::move(tried));
  }
  return all;
}

}  // namespace slimbayes
