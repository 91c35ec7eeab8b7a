#include "slimbayes/methods/portfolio/portfolio_rows.h"

#include "slimbayes/method/row_answers.h"

namespace slimbayes {

namespace {

engine::ViewSpec spec_of(const MemberView& view) {
  engine::ViewSpec spec{.warp = view.warp,
                        .low = view.low,
                        .unit = view.unit,
                        .log_mean = view.log_mean,
                        .log_sd = view.log_sd,
                        .seen_low = view.seen_low,
                        .seen_high = view.seen_high,
                        .spare_sd = view.spare_sd};
  if (view.input_shift.defined()) {
    spec.input_shift = numbers_of(view.input_shift);
    spec.input_scale = numbers_of(view.input_scale);
  }
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

}  // namespace

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
