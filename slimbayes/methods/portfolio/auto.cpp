#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/method.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/row_answers.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/methods/portfolio/portfolio_choice.h"
#include "slimbayes/methods/portfolio/portfolio_rows.h"
#include "slimbayes/methods/portfolio/portfolio_search.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"
#include "slimbayes/methods/portfolio/rows.h"
#include "slimbayes/methods/portfolio/tempering.h"

// auto: the default method, several methods together that held-out rows have chosen and calibrated.
//
// Model       p(y | x) = sum_k w_k p_k(y | x), with the tempered answer p_k of candidate k
//             (methods/portfolio/row_scale, methods/portfolio/tempering).
//             Of counts the mixture is that of answers/mixture; classes are pooled, p(y | x) proportional to
//             prod_k p_k(y | x)^(power w_k) (methods/portfolio/log_pool).
// Estimator   methods/portfolio/portfolio_search.
// Cost        The sum of the candidates, each fitted once a fold; a prediction costs that of all members of
//             the candidates with a weight.

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr const char *kAuto = "auto", *kWildShare = "wild_share", *kPower = "pool_power";

json without_passed_on(json options) {
  options.erase(kPassedOn);
  return options;
}

/// Returns the candidates that answer.
std::vector<TriedCandidate> with_weight(const std::vector<TriedCandidate>& all) {
  std::vector<TriedCandidate> used;
  std::ranges::copy_if(all, std::back_inserter(used), [](const TriedCandidate& t) { return t.weight > 0; });
  return used;
}

/// What the search found of a candidate that it has scored.
std::string fact_of(const TriedCandidate& t) {
  std::string text = fmt::format("{}: held-out NLL {:.4g}", t.candidate.label(), t.nll);
  if (t.cut) text += ", ended early by the time limit";
  if (t.weight == 0) return text + ", not used";
  text += fmt::format(", weight {:.2f}", t.weight);
  if (t.tempering.factor != 1) text += fmt::format(", sd times {:.3g}", std::sqrt(t.tempering.factor));
  if (!t.row_scale.constant())
    text += fmt::format(", by row {:.2g} to {:.2g} times that", std::exp(0.5 * t.row_scale.low),
                        std::exp(0.5 * t.row_scale.high));
  if (std::isfinite(t.tempering.dof)) text += fmt::format(", {:.3g} degrees of freedom", t.tempering.dof);
  if (t.tempering.wild_share > 0) text += ", " + wild_text(t.tempering.wild_share, t.tempering.wild_factor);
  if (t.power != 1) text += fmt::format(", probabilities to the power {:.3g}", t.power);
  return text;
}

/// Returns the names of the candidates that are left out, by reason.
std::map<std::string, std::vector<std::string>> left_out(const std::vector<TriedCandidate>& all) {
  std::map<std::string, std::vector<std::string>> names;
  for (const TriedCandidate& t : all)
    if (!t.left_out.empty()) names[t.left_out].push_back(t.candidate.label());
  return names;
}

/// Returns a warning if the answers to the rows of the folds are not clearly better than those of `constant`:
/// by less than two nats in all, which the fitted weights may win by chance. Returns "" else, or if no other
/// candidate has a score. Validation rows have their warning in model/trust_notes.
std::string nothing_learnt(const SearchResult& found, const SearchRows& rows, const std::string& score) {
  constexpr double kByChance = 2;
  constexpr int64_t kFewest = 10;  // with fewer rows there is no warning
  if (!rows.in_folds || found.held < kFewest) return "";
  const auto constant = std::ranges::find_if(
      found.tried, [](const TriedCandidate& t) { return t.candidate.method == "constant" && has_score(t); });
  if (constant == found.tried.end() || std::ranges::count_if(found.tried, has_score) < 2) return "";
  if ((constant->nll - found.nll) * total_of(held_weights(rows), found.held) >= kByChance) return "";
  return fmt::format(
      "on the {} rows of the folds the {}, {:.4g}, is not clearly better than that of one answer for every "
      "row, {:.4g}: more rows or other columns may help, or the inputs say little",
      found.held, score, found.nll, constant->nll);
}

/// Returns a warning where so few rows chose the candidates and their noise that both are a matter of chance.
std::string few_rows(const SearchRows& rows) {
  constexpr int64_t kFew = 20;
  const int64_t n = rows.all.size();
  const double effective = effective_rows(rows.all.weights(), n);
  if (rows.all.schema.task.kind != TaskKind::regression || effective >= kFew) return "";
  if (n >= kFew)
    return fmt::format(
        "{} rows whose weights are worth only {:.3g} equal ones: the sd may be far too small; "
        "give more rows",
        n, effective);
  return fmt::format("only {} row{}: the sd may be far too small; give more rows", n, n == 1 ? "" : "s");
}

Summary summary_of(const SearchResult& found, const SearchRows& rows) {
  Summary summary;
  summary.rows = rows.in_folds ? rows.all.size() : std::ssize(rows.folds[0].train);
  summary.valid_rows = found.held;
  summary.score = score_name(rows.all.schema.task, "NLL");
  summary.best_score = found.nll;
  const auto cut = [](const TriedCandidate& t) { return t.weight > 0 && t.cut; };
  summary.stopped = found.interrupted                       ? Stopped::interrupted
                    : std::ranges::any_of(found.tried, cut) ? Stopped::time
                                                            : Stopped::converged;
  if (std::string note = nothing_learnt(found, rows, summary.score); !note.empty())
    summary.notes.push_back(std::move(note));
  if (std::string note = few_rows(rows); !note.empty()) summary.notes.push_back(std::move(note));
  std::set<std::string> trained_by;
  for (const TriedCandidate& t : found.tried) {
    summary.seconds += t.seconds;
    if (t.left_out.empty()) summary.facts.push_back(fact_of(t));
    for (const auto& member : t.members) {
      const Summary& own = member->summary();
      if (!own.trained_by.empty()) trained_by.insert(own.trained_by);
      summary.steps += own.steps;
      summary.epochs += own.epochs;
      summary.jitter = std::max(summary.jitter, own.jitter);
      for (const std::string& note : own.notes) {
        const std::string named = fmt::format("{}: {}", t.candidate.label(), note);
        if (std::ranges::find(summary.notes, named) == summary.notes.end()) summary.notes.push_back(named);
      }
    }
  }
  summary.trained_by = fmt::format("{}", fmt::join(trained_by, ", "));
  for (const auto& [reason, names] : left_out(found.tried))
    summary.facts.push_back(fmt::format("left out: {} ({})", fmt::join(names, ", "), reason));
  if (found.power)
    summary.facts.push_back(fmt::format("probabilities of the pool to the power {:.3g}", *found.power));
  const bool late = found.late || std::ranges::any_of(found.tried, &TriedCandidate::cut);
  constexpr double kBusy = 0.7;
  if (late && !found.interrupted) {
    summary.notes.emplace_back(
        "the time limit decided what was tried: another run of the same fit may give other numbers");
    summary.facts.push_back(
        "a longer `.time_limit` tries what the time did not allow" +
        (found.core_share < kBusy
             ? fmt::format("; other programs left this fit {:.0f} % of a core", 100 * found.core_share)
             : ""));
  }
  return summary;
}

/// Returns the share of wrong targets in a file; 0 if it names none.
double stored_wild_share(const TensorFile& file) {
  if (!file.metadata.contains(kWildShare)) return 0;
  const json share = stored_json(file, kWildShare);
  if (!(share.is_number() && share.get<double>() > 0 && share.get<double>() < 1))
    refuse("load", "a share of wrong targets below 1", share.dump(), "the model file is damaged");
  return share.get<double>();
}

/// Returns the power of the pooled class probabilities in a file, if it names one.
std::optional<double> stored_power(const TensorFile& file) {
  if (!file.metadata.contains(kPower)) return std::nullopt;
  const json power = stored_json(file, kPower);
  if (!(power.is_number() && power.get<double>() >= kLeastPower && power.get<double>() <= kMostPower))
    refuse("load", "a power of probabilities from .1 to 10", power.dump(), "the model file is damaged");
  return power.get<double>();
}

/// What corrects the answer of the candidates together.
struct Correction {
  double wild_share = 0;        // of wrong targets, which the fit has left out
  std::optional<double> power;  // of the pooled class probabilities
};

/// Whether the rows are float32, as an encoder makes them. A row model computes the view of a member from
/// such rows alone.
bool has_float32_rows(const Dataset& data) {
  return data.size() > 0 && data.rows(at::zeros({1}, at::kLong)).inputs.at(0).scalar_type() == at::kFloat;
}

class AutoFitted : public Fitted {
 public:
  AutoFitted(json options, Shape input, std::vector<TriedCandidate> tried, Summary summary,
             Correction correction, std::vector<int64_t> wild = {})
      : options_(std::move(options)),
        input_(std::move(input)),
        tried_(std::move(tried)),
        used_(with_weight(tried_)),
        summary_(std::move(summary)),
        correction_(correction),
        wild_(std::move(wild)) {}

  static std::unique_ptr<Fitted> load(const TensorFile& file) {
    at::NoGradGuard no_grad;
    std::vector<TriedCandidate> tried = stored_portfolio(file);
    for (const TriedCandidate& t : tried)
      check((t.weight > 0) == !t.members.empty(), "load", "members of each candidate with a weight",
            "otherwise", "the model file is damaged");
    check(!with_weight(tried).empty(), "load", "a candidate with a weight", "none",
          "the model file is damaged");
    return std::make_unique<AutoFitted>(find_method(kAuto).resolve(stored_json(file, "options")),
                                        shape_from_json(stored_json(file, "input")), std::move(tried),
                                        summary_from_json(stored_json(file, "summary")),
                                        Correction{stored_wild_share(file), stored_power(file)});
  }

  Predictive predict(const Dataset& data, const PredictOptions& options) const override {
    at::NoGradGuard no_grad;
    const bool on_host = options.device.is_cpu();
    if (const auto rows = on_host ? row_model() : nullptr; rows && has_float32_rows(data) && are_rows(data))
      return predict_by_rows(*rows, data, input_, at::kFloat, options, kAuto);
    std::vector<Predictive> answers;
    std::vector<double> weights;
    const auto k = static_cast<double>(used_.size());
    for (const TriedCandidate& t : used_) {
      const auto i = static_cast<double>(answers.size());
      answers.push_back(
          candidate_answer(t, member_answers(t, t.members, data, options.within(i / k, (i + 1) / k)), data));
      weights.push_back(t.weight);
    }
    Predictive answer = pooled(answers, weights, correction_.power);
    if (auto* r = std::get_if<Regression>(&answer)) *r = contaminated(*r, correction_.wild_share);
    return answer;
  }

  TensorFile save() const override {
    TensorFile file;
    file.metadata["options"] = options_.dump();
    file.metadata["summary"] = to_json(summary_).dump();
    file.metadata["input"] = to_json(input_).dump();
    if (correction_.wild_share > 0) file.metadata[kWildShare] = json(correction_.wild_share).dump();
    if (correction_.power) file.metadata[kPower] = json(*correction_.power).dump();
    store_portfolio(tried_, file);
    return file;
  }

  const Summary& summary() const override { return summary_; }

  std::vector<int64_t> wild_rows() const override { return wild_; }

  std::optional<engine::RowSpec> row_spec() const override {
    if (input_.is_image()) return {};
    return portfolio_row_spec(used_, correction_.wild_share, input_.numel());
  }

  std::optional<engine::AnswerSpec> answer_spec() const override {
    if (input_.is_image()) return {};
    return portfolio_answer_spec(used_, correction_.wild_share, correction_.power, input_.numel());
  }

 private:
  json options_;
  Shape input_;
  std::vector<TriedCandidate> tried_, used_;
  Summary summary_;
  Correction correction_;
  std::vector<int64_t> wild_;
};

class AutoMethod : public Method {
 public:
  explicit AutoMethod(const json& given)
      : given_(find_method(kAuto).resolve(given)),
        passed_on_(given_.value(kPassedOn, json::object())),
        options_(options_from_json<AutoOptions>(without_passed_on(given_), kAuto)) {}

  std::unique_ptr<Fitted> fit(const Split& split, const FitContext& context) const override {
    const Dataset train = training_rows(split.train, kAuto);
    const Dataset valid = validation_rows(split.valid, train, kAuto);
    const SearchRows rows =
        search_rows({train, valid}, options_.folds, context.stream.split("folds"), context.device);
    SearchResult found = search(options_, passed_on_, rows, context);
    Summary summary = summary_of(found, rows);
    const double wild = options_.tails == "auto" ? context.wild_share : 0;
    return std::make_unique<AutoFitted>(given_, train.schema.input, std::move(found.tried),
                                        std::move(summary), Correction{wild, found.power},
                                        std::move(found.wild));
  }

 private:
  json given_, passed_on_;
  AutoOptions options_;
};

std::unique_ptr<Method> make_auto(const nlohmann::json& options) {
  return std::make_unique<AutoMethod>(options);
}

std::unique_ptr<Fitted> load_auto(const TensorFile& file) { return AutoFitted::load(file); }

}  // namespace

RegistryRow auto_row() { return {"auto", make_auto, load_auto}; }

}  // namespace slimbayes
