#include "slimbayes/engine/rate_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slimbayes/engine/row_model.h"
#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

void check_rates(bool ok, const char* expected, const char* received) {
  check(ok, "rate_model", expected, received, "the model file is damaged");
}

struct RateMember {
  std::shared_ptr<const RowModel> rows;
  double share;  // of its candidate
};

struct MemberRates {
  std::vector<RateMember> members;
  std::vector<double> shift, scale;  // of the inputs; empty: as they are
  double share;                      // of all
};

/// Sums up the rate of a mixture of log-normal rates by parts, with the moments of the mixture
/// (answers/mixture.cpp).
struct Moments {
  std::vector<double> log_means, log_vars, shares;

  void clear() {
    log_means.clear();
    log_vars.clear();
    shares.clear();
  }
  void add(const LogRate& rate, double share) {
    log_means.push_back(rate.mean + 0.5 * rate.var);
    log_vars.push_back(rate.var);
    shares.push_back(share);
  }
  LogRate rate() const {
    const double most = *std::ranges::max_element(log_means);
    double sum = 0, excess = 0;
    for (size_t i = 0; i < shares.size(); ++i) sum += shares[i] * std::exp(log_means[i] - most);
    const double whole = most + std::log(sum);
    for (size_t i = 0; i < shares.size(); ++i)
      excess += shares[i] * std::expm1(2 * (log_means[i] - whole) + log_vars[i]);
    const double var = std::max(std::log1p(excess), 0.0);
    return {whole - 0.5 * var, var};
  }
};

class MixedRateModel : public RateModel {
 public:
  explicit MixedRateModel(std::vector<MemberRates> candidates) : candidates_(std::move(candidates)) {
    for (const MemberRates& one : candidates_)
      for (const RateMember& member : one.members) {
        check_rates(member.rows->inputs() == inputs(), "members of the same inputs", "others");
        most_ = std::max(most_, member.rows->scratch());
      }
    for (const MemberRates& one : candidates_)
      check_rates(
          one.shift.size() == one.scale.size() && (one.shift.empty() || std::ssize(one.shift) == inputs()),
          "a view of the inputs", "one of others");
  }

  int64_t inputs() const override { return candidates_.front().members.front().rows->inputs(); }
  int64_t scratch() const override { return padded(inputs()) + padded(most_); }

  RateRow answer(const double* x, double* scratch) const override {
    thread_local Moments of_members, of_candidates;  // keep their memory
    of_candidates.clear();
    int64_t zeroed = 0;
    double* view = part_of(scratch, inputs());
    for (const MemberRates& one : candidates_) {
      of_members.clear();
      const double* seen = one.shift.empty() ? x : in_view(one.shift, one.scale, x, view);
      for (const RateMember& member : one.members) {
        double out[3];
        zeroed += member.rows->answer(seen, 1, out, 1, scratch);
        if (candidates_.size() == 1 && one.members.size() == 1) return {{out[0], out[2]}, zeroed};
        of_members.add({out[0], out[2]}, member.share);
      }
      of_candidates.add(
          one.members.size() == 1
              ? LogRate{of_members.log_means[0] - 0.5 * of_members.log_vars[0], of_members.log_vars[0]}
              : of_members.rate(),
          one.share);
    }
    return {of_candidates.rate(), zeroed};
  }

 private:
  std::vector<MemberRates> candidates_;
  int64_t most_ = 0;
};

}  // namespace

std::shared_ptr<const RateModel> rate_model(const RateSpec& spec) {
  check_rates(!spec.candidates.empty(), "candidates", "none");
  double total = 0;
  for (const RateCandidate& given : spec.candidates) {
    check_rates(!given.members.empty() && given.weight > 0 && std::isfinite(given.weight),
                "a candidate with members and a weight above 0", "another");
    total += given.weight;
  }
  std::vector<MemberRates> all;
  for (const RateCandidate& given : spec.candidates) {
    MemberRates one{{}, given.input_shift, given.input_scale, given.weight / total};
    for (const LinearRows& member : given.members) {
      std::shared_ptr<const RowModel> rows = row_model(RowSpec{member});
      if (!rows) return nullptr;
      one.members.push_back({std::move(rows), 1 / static_cast<double>(given.members.size())});
    }
    all.push_back(std::move(one));
  }
  return std::make_shared<MixedRateModel>(std::move(all));
}

}  // namespace slimbayes::engine
