// The classes of `auto`: what candidate_answer() and pooled() of methods/portfolio compute, for one row.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "slimbayes/density/class_average.h"
#include "slimbayes/engine/classes/class_model.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

/// An answer whose probabilities are replaced by the softmax of `logits`, in place: the epistemic share of
/// the entropy stays (with_probabilities of methods/portfolio/tempering).
double with_softmax(std::span<double> p, double expected, std::span<const double> logits) {
  const double before = entropy_of(p), share = before > 0 ? expected / before : 1;
  softmax(logits, p);
  return share * entropy_of(p);
}

double tempered(std::span<double> p, double expected, double power, std::span<double> logits) {
  if (power == 1) return expected;
  for (size_t c = 0; c < p.size(); ++c) logits[c] = power * std::log(p[c]);
  return with_softmax(p, expected, logits);
}

struct PoolMember {
  std::vector<std::shared_ptr<const ClassModel>> members;
  std::vector<double> shift, scale;
  double weight, power;
  bool of_folds;
};

class PooledClassModel : public ClassModel {
 public:
  PooledClassModel(std::vector<PoolMember> candidates, double power)
      : candidates_(std::move(candidates)), power_(power) {
    for (const PoolMember& one : candidates_) total_ += one.weight;
    for (const PoolMember& one : candidates_) {
      check_parts(one.shift.empty() || std::ssize(one.shift) == inputs(), "a view of the inputs",
                  "one of others");
      for (const auto& member : one.members) {
        check_parts(member->inputs() == inputs() && member->classes() == classes(),
                    "members of the same inputs and classes", "others");
        of_members_ = std::max(of_members_, member->scratch());
      }
    }
  }

  int64_t inputs() const override { return candidates_.front().members.front()->inputs(); }
  int64_t classes() const override { return candidates_.front().members.front()->classes(); }
  int64_t scratch() const override { return padded(inputs()) + 4 * padded(classes()) + padded(of_members_); }

  ClassRow answer(const double* x, double* p, double* scratch) const override {
    const int64_t n = classes();
    const auto take = [&](int64_t count) {
      return std::span<double>(part_of(scratch, count), static_cast<size_t>(count));
    };
    const std::span<double> view = take(inputs()), own = take(n), member = take(n), logits = take(n),
                            sum = take(n);
    const std::span<double> out(p, static_cast<size_t>(n));
    std::ranges::fill(sum, 0.0);
    std::ranges::fill(out, 0.0);
    ClassRow pool;
    constexpr double kLeast = 1e-12;  // log_pool()
    for (const PoolMember& one : candidates_) {
      const ClassRow row = candidate(one, x, {view, own, member, logits}, scratch);
      if (candidates_.size() == 1) {
        std::ranges::copy(own, p);
        return row;
      }
      const double share = one.weight / total_;
      pool.expected_entropy += share * row.expected_entropy;
      pool.zeroed += row.zeroed;
      for (size_t c = 0; c < out.size(); ++c) {
        out[c] += share * own[c];
        sum[c] += power_ * one.weight * std::log(std::max(own[c], kLeast));
      }
    }
    pool.expected_entropy = with_softmax(out, pool.expected_entropy, sum);
    return pool;
  }

 private:
  struct Work {
    std::span<double> view, own, member, logits;
  };

  /// Writes the probabilities of a candidate to work.own and returns the rest of its answer.
  static ClassRow candidate(const PoolMember& one, const double* x, const Work& work, double* scratch) {
    const double* seen = one.shift.empty() ? x : in_view(one.shift, one.scale, x, work.view.data());
    std::ranges::fill(work.own, 0.0);
    ClassRow row;
    const auto members = static_cast<double>(one.members.size());
    for (const auto& member : one.members) {
      ClassRow own = member->answer(seen, work.member.data(), scratch);
      if (one.of_folds)
        own.expected_entropy = tempered(work.member, own.expected_entropy, one.power, work.logits);
      for (size_t c = 0; c < work.own.size(); ++c) work.own[c] += work.member[c] / members;
      row.expected_entropy += own.expected_entropy / members;
      row.zeroed += own.zeroed;
    }
    if (!one.of_folds)
      row.expected_entropy = tempered(work.own, row.expected_entropy, one.power, work.logits);
    return row;
  }

  int64_t of_members_ = 0;
  std::vector<PoolMember> candidates_;
  double power_, total_ = 0;
};

bool above_0(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

std::shared_ptr<const ClassModel> pooled_class_model(const PooledClasses& spec) {
  check_parts(!spec.candidates.empty() && above_0(spec.power), "candidates and a power above 0", "otherwise");
  std::vector<PoolMember> all;
  for (const ClassCandidate& given : spec.candidates) {
    check_parts(!given.members.empty() && above_0(given.weight) && above_0(given.power) &&
                    given.input_shift.size() == given.input_scale.size(),
                "a candidate with members and a weight above 0", "another");
    PoolMember one{{}, given.input_shift, given.input_scale, given.weight, given.power, given.of_folds};
    for (const ClassSpec& member : given.members) {
      check_parts(!std::holds_alternative<PooledClasses>(member.of), "methods as members", "a pool");
      one.members.push_back(class_model(member));
      if (!one.members.back()) return nullptr;
    }
    all.push_back(std::move(one));
  }
  return std::make_shared<PooledClassModel>(std::move(all), spec.power);
}

}  // namespace slimbayes::engine
