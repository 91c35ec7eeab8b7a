// The answers of a mixture of `auto` row by row. A tensor operation on one row costs more than all the
// arithmetic of a candidate beside its members' answers, and a mixture takes some hundred of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/engine/row_spec.h"
#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

namespace {

/// A candidate as it answers rows. The functions follow candidate_answer() (methods/portfolio) step by step.
class CandidateModel {
 public:
  explicit CandidateModel(const CandidateRows& spec) : view_(spec.view), spread_(spec.spread), base_(base()) {
    for (const RowSpec& member : spec.members) members_.push_back(row_model(member));
  }

  /// Whether every member answers by rows, with Gaussians.
  bool known() const {
    return std::ranges::all_of(members_, [](const auto& one) { return one && one->density().empty(); });
  }
  int64_t inputs() const { return members_.front()->inputs(); }

  /// Returns whether the numbers are of their ranges. Those of a damaged file may not be.
  bool sane() const {
    const SpreadSpec& s = spread_;
    const bool finite = std::isfinite(view_.low) && std::isfinite(view_.log_mean) &&
                        std::isfinite(s.factor) && std::isfinite(s.wild_factor) && std::isfinite(s.low) &&
                        std::isfinite(s.high) && std::isfinite(view_.seen_low) &&
                        std::isfinite(view_.seen_high) && std::isfinite(view_.unit) &&
                        std::isfinite(view_.log_sd) && std::isfinite(view_.spare_sd);
    return finite && view_.unit > 0 && view_.log_sd > 0 && view_.spare_sd >= 0 &&
           view_.seen_low <= view_.seen_high && s.factor > 0 && s.dof > 2 && s.wild_share >= 0 &&
           s.wild_share < 1 && s.wild_factor > 0 && s.low <= s.high && s.seen_epistemic >= 0 &&
           std::ranges::none_of(view_.input_scale, [](double one) { return one == 0; }) &&
           std::ranges::none_of(s.spread, [](double one) { return one == 0; });
  }

  /// Returns whether all parts have d inputs. Those of a damaged file may not.
  bool fits(int64_t d) const {
    const auto both = [](int64_t n, const std::vector<double>& one, const std::vector<double>& other) {
      return one.size() == other.size() && (one.empty() || std::ssize(one) == n);
    };
    return !members_.empty() &&
           std::ranges::all_of(members_, [d](const auto& one) { return one->inputs() == d; }) &&
           both(d, view_.input_shift, view_.input_scale) && both(d + 1, spread_.centre, spread_.spread) &&
           spread_.centre.size() == spread_.weights.size();
  }

  /// Returns what all rows share of the components of the answer, one or, with wild rows, two.
  std::vector<ComponentShape> shapes() const {
    ComponentShape own = base_;
    if (components() == 1) return {own};
    own.weight = 1 - spread_.wild_share;
    return {{spread_.wild_share}, own};
  }

  int64_t components() const { return spread_.wild_share > 0 ? 2 : 1; }

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
    if (!view_.input_shift.empty()) {
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
      c.dof = spread_.dof;
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
      for (size_t j = 0; j < d; ++j)
        seen[j] = static_cast<float>((x[j] - view_.input_shift[j]) / view_.input_scale[j]);
  }

  /// The answer of member m to a row of `answers`, with the factor of the row and, of fold members, of the
  /// candidate.
  RowMoments member(size_t m, const double* x, const double* answers) const {
    const double* own = answers + static_cast<int64_t>(m) * 3 * kChunkRows;
    RowMoments p{own[0], own[kChunkRows], own[2 * kChunkRows]};
    if (!spread_.weights.empty()) {
      const size_t d = spread_.weights.size() - 1;
      double log_factor = (p.mean - spread_.centre[d]) / spread_.spread[d] * spread_.weights[d];
      for (size_t j = 0; j < d; ++j)
        log_factor += (x[j] - spread_.centre[j]) / spread_.spread[j] * spread_.weights[j];
      const double factor = std::exp(std::clamp(log_factor, spread_.low, spread_.high));
      const double seen = std::min(p.epistemic_var, spread_.seen_epistemic);
      p.epistemic_var = factor * seen + (p.epistemic_var - seen);
      p.aleatoric_var *= factor;
    }
    if (spread_.of_folds) {
      p.aleatoric_var *= spread_.factor;
      p.epistemic_var *= spread_.factor;
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
    if (!spread_.of_folds) return {p.mean, p.aleatoric_var, p.epistemic_var + between};
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
    const double factor = spread_.of_folds ? 1 : spread_.factor;
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
    if (spread_.wild_share > 0) {
      const RowMoments own = target_moments(base_, c);
      write({own.mean, spread_.wild_factor * own.aleatoric_var, spread_.wild_factor * own.epistemic_var});
    }
    write(c);
  }

  std::vector<std::shared_ptr<const RowModel>> members_;
  ViewSpec view_;
  SpreadSpec spread_;
  ComponentShape base_;  // of the answer before wild rows
};

class MixtureRowModel : public RowModel {
 public:
  MixtureRowModel(std::vector<CandidateModel> candidates, const MixtureRows& spec)
      : candidates_(std::move(candidates)), wrong_factor_(spec.wrong_factor) {
    double sum = 0;
    for (size_t i = 0; i < candidates_.size(); ++i)
      for (ComponentShape shape : candidates_[i].shapes()) {
        shape.weight *= spec.candidates[i].weight;
        sum += shape.weight;
        mixture_.push_back(shape);
      }
    for (ComponentShape& shape : mixture_) shape.weight /= sum;
    density_ = mixture_;
    if (spec.wrong_share == 0) return;
    for (ComponentShape& shape : density_) shape.weight *= 1 - spec.wrong_share;
    density_.push_back({spec.wrong_share, spec.wrong_dof});
  }

  int64_t inputs() const override { return candidates_.front().inputs(); }
  int64_t scratch() const override {
    int64_t most = 0;
    for (const CandidateModel& one : candidates_) most = std::max(most, one.scratch());
    return 3 * std::ssize(density_) + kernels::kPad + most;
  }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    auto* targets = reinterpret_cast<RowMoments*>(part_of(scratch, 3 * std::ssize(density_)));
    int64_t zeroed = 0;
    double* to = out + 3 * ldo;
    for (const CandidateModel& one : candidates_) {
      zeroed += one.answer(x, rows, to, ldo, scratch);
      to += 3 * ldo * one.components();
    }
    for (int64_t i = 0; i < rows; ++i) {
      RowMoments p = moments(mixture_, out + i, ldo, targets);
      if (density_.size() > mixture_.size()) {  // contaminated()
        write({p.mean, wrong_factor_ * p.aleatoric_var, wrong_factor_ * p.epistemic_var}, to + i, ldo);
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

  std::vector<CandidateModel> candidates_;
  double wrong_factor_;
  std::vector<ComponentShape> mixture_;  // density_ without the component of wrong targets
};

}  // namespace

std::shared_ptr<const RowModel> mixture_row_model(const MixtureRows& spec) {
  std::vector<CandidateModel> candidates;
  for (const CandidateRows& one : spec.candidates) {
    candidates.emplace_back(one);
    if (!candidates.back().known()) return nullptr;
    if (!candidates.back().fits(spec.inputs))
      refuse("auto", fmt::format("candidates of {} inputs", spec.inputs), "parts of other sizes",
             "the model file is damaged; fit it again");
  }
  const bool weights = std::ranges::all_of(
      spec.candidates, [](const CandidateRows& one) { return std::isfinite(one.weight) && one.weight > 0; });
  const bool sane = !candidates.empty() && weights &&
                    std::ranges::all_of(candidates, [](const CandidateModel& one) { return one.sane(); }) &&
                    spec.wrong_share >= 0 && spec.wrong_share < 1 && spec.wrong_dof > 2 &&
                    spec.wrong_factor > 0 && std::isfinite(spec.wrong_factor);
  check(sane, "auto", "candidates with numbers of their ranges", "others", "the model file is damaged");
  return std::make_shared<MixtureRowModel>(std::move(candidates), spec);
}

}  // namespace slimbayes::engine
