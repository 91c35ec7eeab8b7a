#include "slimbayes/methods/portfolio/portfolio_rows.h"

#include "slimbayes/method/row_answers.h"

namespace slimbayes {

namespace {

/// Sets the shift and the scale of the inputs that a member sees.
template <class Part>
void set_view(const MemberView& view, Part& part) {
  if (!view.input_shift.defined()) return;
  part.input_shift = numbers_of(view.input_shift);
  part.input_scale = numbers_of(view.input_scale);
}

engine::ViewSpec spec_of(const MemberView& view) {
  engine::ViewSpec spec{.warp = view.warp,
                        .low = view.low,
                        .unit = view.unit,
                        .log_mean = view.log_mean,
                        .log_sd = view.log_sd,
                        .seen_low = view.seen_low,
                        .seen_high = view.seen_high,
                        .spare_sd = view.spare_sd};
  set_view(view, spec);
  return spec;
}

engine::SpreadSpec spread_of(const TriedCandidate& t) {
  engine::SpreadSpec spec{.of_folds = t.of_folds,
                          .factor = t.tempering.factor,
                          .dof = t.tempering.dof,
                          .wild_share = t.tempering.wild_share,
                          .wild_factor = t.tempering.wild_factor,
                          .low = t.row_scale.low,
                          .high = t.row_scale.high,
                          .seen_epistemic = t.row_scale.seen_epistemic};
  if (t.row_scale.constant()) return spec;
  spec.centre = numbers_of(t.row_scale.centre);
  spec.spread = numbers_of(t.row_scale.spread);
  spec.weights = numbers_of(t.row_scale.weights);
  return spec;
}

/// Whether it is an ensemble of classes, which cannot be a member of a pool.
bool is_pool(const engine::AnswerSpec& spec) {
  const auto* classes = std::get_if<engine::ClassSpec>(&spec);
  return classes != nullptr && std::holds_alternative<engine::PooledClasses>(classes->of);
}

/// What the members of all candidates answer as data, candidate by candidate; empty if one has no such form.
std::optional<std::vector<std::vector<engine::AnswerSpec>>> members_of(
    const std::vector<TriedCandidate>& used) {
  std::vector<std::vector<engine::AnswerSpec>> all;
  for (const TriedCandidate& t : used) {
    all.emplace_back();
    for (const auto& member : t.members) {
      std::optional<engine::AnswerSpec> spec = member->answer_spec();
      if (!spec || is_pool(*spec) ||
          spec->index() != (all.front().empty() ? *spec : all.front().front()).index())
        return {};
      all.back().push_back(std::move(*spec));
    }
  }
  return all;
}

std::optional<engine::AnswerSpec> mixture_of_rates(const std::vector<TriedCandidate>& used,
                                                   std::vector<std::vector<engine::AnswerSpec>> members) {
  engine::RateSpec mixture;
  for (size_t i = 0; i < used.size(); ++i) {
    engine::RateCandidate& one = mixture.candidates.emplace_back();
    one.weight = used[i].weight;
    set_view(used[i].view, one);
    for (engine::AnswerSpec& member : members[i]) {
      auto rows = engine::one_member(std::move(member));
      if (!rows) return {};
      one.members.push_back(std::move(*rows));
    }
  }
  return mixture;
}

engine::ClassSpec pool_of(const std::vector<TriedCandidate>& used,
                          std::vector<std::vector<engine::AnswerSpec>> members, double power) {
  engine::PooledClasses pool{.candidates = {}, .power = power};
  for (size_t i = 0; i < used.size(); ++i) {
    const TriedCandidate& t = used[i];
    engine::ClassCandidate& one = pool.candidates.emplace_back();
    one.weight = t.weight;
    one.power = t.power;
    one.of_folds = t.of_folds;
    set_view(t.view, one);
    for (engine::AnswerSpec& member : members[i])
      one.members.push_back(std::get<engine::ClassSpec>(std::move(member)));
  }
  return {std::move(pool)};
}

}  // namespace

std::optional<engine::AnswerSpec> portfolio_answer_spec(const std::vector<TriedCandidate>& used,
                                                        double wild_share, std::optional<double> power,
                                                        int64_t inputs) {
  auto members = members_of(used);
  if (!members) return {};
  const engine::AnswerSpec& first = members->front().front();
  if (std::holds_alternative<engine::ClassSpec>(first)) {
    if (used.size() > 1 && !power) return {};  // such a model has no answers either
    return pool_of(used, std::move(*members), power.value_or(1));
  }
  if (std::holds_alternative<engine::RateSpec>(first)) return mixture_of_rates(used, std::move(*members));
  return portfolio_row_spec(used, wild_share, inputs);
}

std::optional<engine::RowSpec> portfolio_row_spec(const std::vector<TriedCandidate>& used, double wild_share,
                                                  int64_t inputs) {
  engine::MixtureRows mixture;
  mixture.inputs = inputs;
  mixture.wrong_share = wild_share;
  mixture.wrong_dof = kWildCellDof;
  mixture.wrong_factor = kWildCellFactor;
  for (const TriedCandidate& t : used) {
    engine::CandidateRows one;
    one.view = spec_of(t.view);
    one.spread = spread_of(t);
    one.weight = t.weight;
    for (const auto& member : t.members) {
      std::optional<engine::RowSpec> spec = member->row_spec();
      if (!spec) return {};
      one.members.push_back(std::move(*spec));
    }
    mixture.candidates.push_back(std::move(one));
  }
  return engine::RowSpec{std::move(mixture)};
}

}  // namespace slimbayes
