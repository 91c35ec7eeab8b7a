#include "slimbayes/model/model_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {

namespace {

/// Returns the examples with the indices `kept`, with those of their answers that are there.
std::pair<Examples, Answers> taken(const Examples& examples, const Answers& a,
                                   const std::vector<int64_t>& kept) {
  std::vector<int64_t> place(static_cast<size_t>(count(examples)), -1);  // among `kept`
  for (size_t i = 0; i < kept.size(); ++i) place[static_cast<size_t>(kept[i])] = static_cast<int64_t>(i);
  Answers out{a.answer, {}, {}, {}};
  std::vector<int64_t> chosen;  // indices among the answers
  for (size_t i = 0; i < a.rows.size(); ++i) {
    const int64_t at = place[static_cast<size_t>(a.rows[i])];
    if (at < 0) continue;
    chosen.push_back(static_cast<int64_t>(i));
    out.rows.push_back(at);
  }
  for (const BadRow& bad : a.bad)
    if (const int64_t at = place[static_cast<size_t>(bad.row)]; at >= 0) out.bad.push_back({at, bad.reason});
  const at::Tensor index = at::tensor(chosen, at::kLong);
  const auto some = [&](const at::Tensor& x) { return x.index_select(0, index); };
  out.answer = take(a.answer, index);
  for (const LevelAnswer& at : a.levels) {
    LevelAnswer& one = out.levels.emplace_back(LevelAnswer{at.level});
    if (at.interval) one.interval = Interval{some(at.interval->lower), some(at.interval->upper)};
    if (at.set) one.set = some(*at.set);
  }
  return {take(examples, kept), std::move(out)};
}

}  // namespace

at::Tensor weights_of(const Model& model, const Examples& examples) {
  const std::string& name = model.fit_options().weights;
  if (name.empty() || std::holds_alternative<Images>(examples)) return {};
  std::optional<Table> targets;
  if (const auto* windows = std::get_if<WindowTable>(&examples)) {
    if (windows->table->find(name) == nullptr) return {};
    targets = target_rows(*windows);
  }
  const Column* column = (targets ? *targets : std::get<Table>(examples)).find(name);
  if (column == nullptr) return {};
  at::Tensor weight = at::tensor(column->values, at::kDouble);
  const bool sane = (weight.isfinite() & (weight >= 0)).all().item<bool>();
  if (!sane)
    refuse("evaluate", fmt::format("a number of at least 0 in each cell of {}, the weights", in_quotes(name)),
           "another cell", "give the rows their weights, or leave the column out");
  return weight;
}

std::optional<std::vector<int64_t>> weighed_examples(const Model& model, const Examples& examples) {
  const at::Tensor weight = weights_of(model, examples);
  if (!weight.defined() || (weight > 0).all().item<bool>()) return std::nullopt;
  const at::Tensor kept = weight.nonzero().squeeze(1).contiguous();
  check(kept.numel() > 0, "evaluate", "an example of weight above 0", "weights of 0 alone");
  const int64_t* first = kept.const_data_ptr<int64_t>();
  return std::vector<int64_t>(first, first + kept.numel());
}

std::optional<std::pair<Examples, Answers>> weighed_answers(const Model& model, const Examples& examples,
                                                            const Answers& answers) {
  const auto kept = weighed_examples(model, examples);
  if (!kept) return std::nullopt;
  return taken(examples, answers, *kept);
}

at::Tensor answered_weights(const Model& model, const Examples& examples, const Answers& answers) {
  const at::Tensor weight = weights_of(model, examples);
  if (!weight.defined() || answers.bad.empty()) return weight;
  return weight.index_select(0, at::tensor(answers.rows, at::kLong));
}

ConformalWeight conformal_weight_of(const FitOptions& fit, bool grouped) {
  if (fit.weights_are != "counts") return ConformalWeight::importance;
  return grouped ? ConformalWeight::counts : ConformalWeight::counts_of_rows;
}

}  // namespace slimbayes
