// The answers of a portfolio row by row. A tensor operation on one row costs more than all the arithmetic of
// a candidate beside its members' answers, and a portfolio takes some hundred of them.
#include "slimbayes/methods/portfolio/portfolio_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/method/row_answers.h"

namespace slimbayes {

namespace {

using engine::kChunkRows;
using engine::part_of;
using engine::RowModel;

/// A candidate as it answers rows. The functions follow candidate_answer() step by step.
class CandidateRows {
 public:
  explicit CandidateRows(const TriedCandidate& t)
      : view_(t.view),
        tempering_(t.tempering),
        of_folds_(t.of_folds),
        low_(t.row_scale.low),
        high_(t.row_scale.high),
        seen_epistemic_(t.row_scale.seen_epistemic),
        base_(base()) {
    for (const auto& member : t.members) members_.push_back(member->row_model());
    if (t.view.input_shift.defined()) {
      input_shift_ = numbers_of(t.view.input_shift);
      input_scale_ = numbers_of(t.view.input_scale);
    }
    if (t.row_scale.constant()) return;
    centre_ = numbers_of(t.row_scale.centre);
    spread_ = numbers_of(t.row_scale.spread);
    weights_ = numbers_of(t.row_scale.weights);
  }

  /// Whether every member answers by rows, with Gaussians.
  bool known() const {
    return std::ranges::all_of(members_, [](const auto& one) { return one && one->density().empty(); });
  }
  int64_t inputs() const { return members_.front()->inputs(); }

  /// Throws std::invalid_argument unless all parts have d inputs. Those of a damaged file may not.
  void check_inputs(int64_t d) const {
    const auto fits = [](const std::vector<double>& part, int64_t n) {
      return part.empty() || std::ssize(part) == n;
    };
    const bool members = std::ranges::all_of(members_, [d](const auto& one) { return one->inputs() == d; });
    if (!(members && fits(input_shift_, d) && fits(input_scale_, d) && fits(centre_, d + 1) &&
          fits(spread_, d + 1) && fits(weights_, d + 1)))
      refuse("auto", fmt::format("candidates of {} inputs", d), "parts of other sizes",
             "the model file is damaged; fit it again");
  }

  /// Returns what all rows share of the components of the answer, one or, with wild rows, two.
  std::vector<ComponentShape> shapes() const {
    ComponentShape own = base_;
    if (tempering_.wild_share == 0) return {own};
    own.weight = 1 - tempering_.wild_share;
    return {{tempering_.wild_share}, own};
  }

  int64_t components() const { return tempering_.wild_share > 0 ? 2 : 1; }

  int64_t scratch() const {
    int64_t most = 0;
    for (const auto& one : members_) most = std::max(most, one->scratch());
    return kChunkRows * inputs() + numbers() * kChunkRows + most + 3 * kernels::kPad;
  }

  /// Writes the moments of the warped target under each component to `out` [3 components, rows] with the
  /// stride `ldo`. x [rows, inputs].
  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const {
    double *seen = part_of(scratch, kChunkRows * inputs()),
           *answers = part_of(scratch, numbers() * kChunkRows);
    const double* in = x;
    if (!input_shift_.empty()) {
      look(x, rows, seen);
      in = seen;
    }
    int64_t zeroed = 0;
    for (size_t m = 0; m < members_.size(); ++m)
      zeroed += members_[m]->answer(in, rows, answers + static_cast<int64_t>(m) * 3 * kChunkRows, kChunkRows,
                                    scratch);
    for (int64_t i = 0; i < rows; ++i) {
      const RowMoments pooled = pool(x + i * inputs(), answers + i);
      store(in_target_units(pooled), out + i, ldo);
    }
    return zeroed;
  }

 private:
  int64_t numbers() const { return 3 * std::ssize(members_); }

  ComponentShape base() const {
    ComponentShape c;
    if (view_.warp == TargetWarp::none) {
      c.dof = tempering_.dof;
      return c;
    }
    const double width = width_of_range();
    c.warp = TargetWarp::log;
    c.shift = view_.low;
    c.scale = view_.unit;
    c.most_var = std::pow(width * view_.log_sd, 2);
    c.most = view_.log_mean + view_.log_sd * view_.seen_high;
    c.spare_var = std::pow(view_.spare_sd * view_.log_sd, 2);
    return c;
  }
  double width_of_range() const { return std::max(view_.seen_high - view_.seen_low, 1.0); }

  /// rows_in_view(): the inputs as a member sees them, which are float32.
  void look(const double* x, int64_t rows, double* seen) const {
    const auto d = static_cast<size_t>(inputs());
    for (int64_t i = 0; i < rows; ++i, x += d, seen += d)
      for (size_t j = 0; j < d; ++j) seen[j] = static_cast<float>((x[j] - input_shift_[j]) / input_scale_[j]);
  }

  /// The answer of member m to a row of `answers`, with the factor of the row and, of fold members, of the
  /// candidate.
  RowMoments member(size_t m, const double* x, const double* answers) const {
    const double* own = answers + static_cast<int64_t>(m) * 3 * kChunkRows;
    RowMoments p{own[0], own[kChunkRows], own[2 * kChunkRows]};
    if (!weights_.empty()) {
      const size_t d = weights_.size() - 1;
      double log_factor = (p.mean - centre_[d]) / spread_[d] * weights_[d];
      for (size_t j = 0; j < d; ++j) log_factor += (x[j] - centre_[j]) / spread_[j] * weights_[j];
      const double factor = std::exp(std::clamp(log_factor, low_, high_));
      const double seen = std::min(p.epistemic_var, seen_epistemic_);
      p.epistemic_var = factor * seen + (p.epistemic_var - seen);
      p.aleatoric_var *= factor;
    }
    if (of_folds_) {
      p.aleatoric_var *= tempering_.factor;
      p.epistemic_var *= tempering_.factor;
    }
    return p;
  }

  /// mixture(), or bagged_mixture() of fold members.
  RowMoments pool(const double* x, const double* answers) const {
    const size_t members = members_.size();
    if (members == 1) return member(0, x, answers);
    const auto k = static_cast<double>(members);
    RowMoments sum;
    for (size_t m = 0; m < members; ++m) {
      const RowMoments p = member(m, x, answers);
      sum.mean += p.mean;
      sum.aleatoric_var += p.aleatoric_var;
      sum.epistemic_var += p.epistemic_var;
    }
    RowMoments p{sum.mean / k, sum.aleatoric_var / k, sum.epistemic_var / k};
    double between = 0;
    for (size_t m = 0; m < members; ++m) {
      const double deviation = answers[static_cast<int64_t>(m) * 3 * kChunkRows] - p.mean;
      between += deviation * deviation;
    }
    between /= k;
    if (!of_folds_) return {p.mean, p.aleatoric_var, p.epistemic_var + between};
    const double share = p.var() / (p.var() + between);  // v / (v + b)
    return {p.mean, share * p.aleatoric_var, share * p.epistemic_var + between};
  }

  /// answer_in_target_units(): the moments of the warped target.
  RowMoments in_target_units(const RowMoments& p) const {
    if (view_.warp == TargetWarp::none) return p;
    const double width = width_of_range();
    const double shrunk = std::min(1.0, width * width / p.var()) * view_.log_sd * view_.log_sd;
    const double mean = std::clamp(p.mean, view_.seen_low - width, view_.seen_high + 2 * view_.spare_sd);
    return {view_.log_mean + view_.log_sd * mean, shrunk * p.aleatoric_var, shrunk * p.epistemic_var};
  }

  /// tempered(): writes the moments under each component.
  void store(RowMoments c, double* out, int64_t ldo) const {
    const double factor = of_folds_ ? 1 : tempering_.factor;
    c.aleatoric_var *= factor;
    c.epistemic_var *= factor;
    if (std::isfinite(base_.most_var)) {
      const double share = std::min(1.0, base_.most_var / c.var());
      c.aleatoric_var *= share;
      c.epistemic_var *= share;
    }
    const auto write = [&out, ldo](const RowMoments& p) {
      out[0] = p.mean;
      out[ldo] = p.aleatoric_var;
      out[2 * ldo] = p.epistemic_var;
      out += 3 * ldo;
    };
    if (tempering_.wild_share > 0) {
      const RowMoments own = target_moments(base_, c);
      write(
          {own.mean, tempering_.wild_factor * own.aleatoric_var, tempering_.wild_factor * own.epistemic_var});
    }
    write(c);
  }

  std::vector<std::shared_ptr<const RowModel>> members_;
  MemberView view_;
  Tempering tempering_;
  bool of_folds_;
  std::vector<double> input_shift_, input_scale_;  // [d]; empty: the inputs as they are
  std::vector<double> centre_, spread_, weights_;  // RowScale, [d + 1]; empty: the factor is 1
  double low_, high_, seen_epistemic_;
  ComponentShape base_;  // of the answer before wild rows
};

class PortfolioRowModel : public RowModel {
 public:
  PortfolioRowModel(std::vector<CandidateRows> candidates, const std::vector<double>& weights,
                    double wild_share)
      : candidates_(std::move(candidates)) {
    double sum = 0;
    for (size_t i = 0; i < candidates_.size(); ++i)
      for (ComponentShape shape : candidates_[i].shapes()) {
        shape.weight *= weights[i];
        sum += shape.weight;
        mixture_.push_back(shape);
      }
    for (ComponentShape& shape : mixture_) shape.weight /= sum;
    density_ = mixture_;
    if (wild_share == 0) return;
    for (ComponentShape& shape : density_) shape.weight *= 1 - wild_share;
    density_.push_back({wild_share, kWildCellDof});
  }

  int64_t inputs() const override { return candidates_.front().inputs(); }
  int64_t scratch() const override {
    int64_t most = 0;
    for (const CandidateRows& one : candidates_) most = std::max(most, one.scratch());
    return 3 * std::ssize(density_) + kernels::kPad + most;
  }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    auto* targets = reinterpret_cast<RowMoments*>(part_of(scratch, 3 * std::ssize(density_)));
    int64_t zeroed = 0;
    double* to = out + 3 * ldo;
    for (const CandidateRows& one : candidates_) {
      zeroed += one.answer(x, rows, to, ldo, scratch);
      to += 3 * ldo * one.components();
    }
    for (int64_t i = 0; i < rows; ++i) {
      RowMoments p = moments(mixture_, out + i, ldo, targets);
      if (density_.size() > mixture_.size()) {  // contaminated()
        write({p.mean, kWildCellFactor * p.aleatoric_var, kWildCellFactor * p.epistemic_var}, to + i, ldo);
        p = moments(density_, out + i, ldo, targets);
      }
      write(p, out + i, ldo);
    }
    return zeroed;
  }

 private:
  static void write(const RowMoments& p, double* out, int64_t ldo) {
    out[0] = p.mean;
    out[ldo] = p.aleatoric_var;
    out[2 * ldo] = p.epistemic_var;
  }

  /// The moments of the mixture of the first components of a row.
  static RowMoments moments(const std::vector<ComponentShape>& shapes, const double* out, int64_t ldo,
                            RowMoments* targets) {
    for (size_t k = 0; k < shapes.size(); ++k) {
      const double* own = out + (3 + 3 * static_cast<int64_t>(k)) * ldo;
      targets[k] = target_moments(shapes[k], {own[0], own[ldo], own[2 * ldo]});
    }
    return mixed_moments(shapes, {targets, shapes.size()});
  }

  std::vector<CandidateRows> candidates_;
  std::vector<ComponentShape> mixture_;  // density_ without the component of wrong targets
};

}  // namespace

std::shared_ptr<const engine::RowModel> portfolio_row_model(const std::vector<TriedCandidate>& used,
                                                            double wild_share, int64_t inputs) {
  std::vector<CandidateRows> candidates;
  std::vector<double> weights;
  for (const TriedCandidate& t : used) {
    candidates.emplace_back(t);
    if (!candidates.back().known()) return nullptr;
    candidates.back().check_inputs(inputs);
    weights.push_back(t.weight);
  }
  return std::make_shared<PortfolioRowModel>(std::move(candidates), weights, wild_share);
}

}  // namespace slimbayes
