#include "slimbayes/bayes/independent_factors.h"

#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

std::string spread_of(const Factor& factor) { return factor.name + ".spread"; }

class IndependentFactors : public Structure {
 public:
  IndependentFactors(const SitePlan& plan, double rate, FactorForm form)
      : law_(find_law(plan.law)),
        prior_(plan.prior),
        start_spread_(std::log(std::expm1(plan.start_scale))),
        rate_(rate),
        form_(std::move(form)) {}

  std::vector<ParameterSpec> parameters(const at::Tensor& start, const Stream& stream) const override {
    std::vector<ParameterSpec> all;
    for (size_t i = 0; i < form_.factors.size(); ++i) {
      const Factor& factor = form_.factors[i];
      all.push_back({factor.name, "network", form_.start(i, start, stream.split(factor.name)), rate_});
      all.push_back({spread_of(factor), "spread", at::full(factor.sizes, start_spread_, at::kDouble), rate_});
    }
    return all;
  }

  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes() const override {
    std::vector<std::pair<std::string, std::vector<int64_t>>> all;
    for (const Factor& factor : form_.factors) {
      all.emplace_back(factor.name, factor.sizes);
      all.emplace_back(spread_of(factor), factor.sizes);
    }
    return all;
  }

  SiteDraw draw(std::span<const at::Tensor> parameters, const Stream& stream,
                const at::Tensor& tokens) const override {
    SiteDraw drawn{DenseMap{}, {}, tokens};
    for (size_t i = 0; i < form_.factors.size(); ++i) {
      const auto [location, scale] = values_of(i, parameters, tokens);
      drawn.numbers.push_back(law_.draw(location, scale, stream.split(form_.factors[i].name)));
    }
    drawn.map = form_.map(drawn.numbers, tokens);
    return drawn;
  }

  at::Tensor kl(std::span<const at::Tensor> parameters, const SiteDraw& draw,
                const at::Tensor& row_weights) const override {
    at::Tensor sum;
    for (size_t i = 0; i < form_.factors.size(); ++i) {
      const bool weighted = row_weights.defined() && form_.factors[i].tokens;
      const bool some = draw.tokens.defined() && form_.factors[i].tokens;
      internal_check(weighted || !some || !needs_draw(prior_), "Structure::kl",
                     "the KL of rows that were not drawn has no closed form");
      const auto [location, scale] = values_of(i, parameters, weighted ? draw.tokens : at::Tensor());
      const at::Tensor elements = kl_elements({law_, location, scale, draw.numbers[i]}, prior_);
      const at::Tensor own = weighted ? (elements.flatten(1).sum(1) * row_weights).sum() : elements.sum();
      sum = sum.defined() ? sum + own : own;
    }
    return sum;
  }

 private:
  struct Values {
    at::Tensor location, scale;
  };

  /// Returns the locations and scales of a factor. If `tokens` is defined and the factor has one row per
  /// token, returns the rows of these tokens only.
  Values values_of(size_t factor, std::span<const at::Tensor> parameters, const at::Tensor& tokens) const {
    at::Tensor location = parameters[2 * factor], spread = parameters[2 * factor + 1];
    if (tokens.defined() && form_.factors[factor].tokens) {
      location = at::embedding(location, tokens);
      spread = at::embedding(spread, tokens);
    }
    return {location, at::softplus(spread)};
  }

  const Law& law_;
  Prior prior_;
  double start_spread_;  // softplus(start_spread_) = SitePlan::start_scale
  double rate_;
  FactorForm form_;
};

}  // namespace

std::unique_ptr<const Structure> independent_factors(const SitePlan& plan, double rate, FactorForm form) {
  return std::make_unique<IndependentFactors>(plan, rate, std::move(form));
}

}  // namespace slimbayes
