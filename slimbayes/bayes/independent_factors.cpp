#include "slimbayes/bayes/independent_factors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

std::string spread_of(const Factor& factor) { return factor.name + ".spread"; }

/// Returns the value of a spread: softplus of it is `scale`.
double spread_for(double scale) { return std::log(std::expm1(scale)); }

class IndependentFactors : public Structure {
 public:
  IndependentFactors(const SitePlan& plan, double rate, FactorForm form)
      : law_(find_law(plan.law)), plan_(plan), rate_(rate), form_(std::move(form)) {}

  std::vector<ParameterSpec> parameters(const at::Tensor& start, const Stream& stream) const override {
    std::vector<ParameterSpec> all;
    for (size_t i = 0; i < form_.factors.size(); ++i) {
      const Factor& factor = form_.factors[i];
      at::Tensor location = form_.start(i, start, stream.split(factor.name));
      double scale = plan_.start_scale;
      if (plan_.start_ratio > 0) scale = plan_.start_ratio * location.square().mean().sqrt().item<double>();
      all.push_back({factor.name, "network", std::move(location), rate_});
      if (!factor.random) continue;
      if (!(scale > 0))
        refuse("weight_plan", fmt::format("initial locations of '{}' that are not all 0", factor.name),
               "zeros", "set start_scale in place of start_ratio");
      all.push_back(
          {spread_of(factor), "spread", at::full(factor.sizes, spread_for(scale), at::kDouble), rate_});
    }
    return all;
  }

  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes() const override {
    std::vector<std::pair<std::string, std::vector<int64_t>>> all;
    for (const Factor& factor : form_.factors) {
      all.emplace_back(factor.name, factor.sizes);
      if (factor.random) all.emplace_back(spread_of(factor), factor.sizes);
    }
    return all;
  }

  SiteDraw draw(std::span<const at::Tensor> parameters, const Stream& stream,
                const DrawContext& context) const override {
    const at::Tensor& tokens = context.tokens;
    if (context.local && form_.local && law_.name == "gaussian" && !needs_draw(plan_.prior)) {
      const Values own = values_of(parameters, tokens)[0];
      return {LocalMap{own.location, own.scale, stream.split(own.factor->name)}, {{}}, {own.scale}, tokens};
    }
    SiteDraw drawn{DenseMap{}, {}, {}, tokens};
    for (const Values& one : values_of(parameters, tokens)) {
      drawn.numbers.push_back(one.scale.defined()
                                  ? law_.draw(one.location, one.scale, stream.split(one.factor->name))
                                  : one.location);
      drawn.scales.push_back(one.scale);
    }
    drawn.map = form_.map(drawn.numbers, tokens);
    return drawn;
  }

  at::Tensor kl(std::span<const at::Tensor> parameters, const SiteDraw& draw,
                const at::Tensor& row_weights) const override {
    const bool weighted = row_weights.defined(), some = draw.tokens.defined();
    const bool drawn_rows = weighted || !some;  // whether the KL is that of the rows that were drawn
    const std::vector<Values> all =
        drawn_rows ? values_of(parameters, draw.tokens, draw.scales) : values_of(parameters, {});
    at::Tensor sum;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& [factor, location, scale] = all[i];
      if (!factor->random) continue;
      internal_check(weighted || !some || !factor->tokens || !needs_draw(plan_.prior), "Structure::kl",
                     "the KL of rows that were not drawn has no closed form");
      const LawValues q{law_, location, scale, draw.numbers[i]};
      const at::Tensor own = weighted && factor->tokens
                                 ? (kl_elements(q, plan_.prior).reshape({location.size(0), -1}).sum(1) *
                                    on_device(row_weights, location.device()))
                                       .sum()
                                 : kl_sum(q, plan_.prior);
      sum = sum.defined() ? sum + own : own;
    }
    return sum;
  }

  /// The map of the locations: a law is symmetric about its location, the factors are independent, and the
  /// matrix is linear in each of them.
  SiteMatrix mean(std::span<const at::Tensor> parameters) const override {
    std::vector<at::Tensor> locations;
    for (const Values& one : values_of(parameters, {})) locations.push_back(one.location);
    return {form_.map(locations, {})};
  }

  std::vector<FactorPosterior> factors(std::span<const at::Tensor> parameters) const override {
    std::vector<FactorPosterior> all;
    for (const Values& one : values_of(parameters, {}))
      if (one.factor->random) all.push_back({"", one.location, one.scale});
    return all;
  }

  void rows_to_prior(std::span<const at::Tensor> parameters, const at::Tensor& tokens) const override {
    size_t next = 0;
    for (const Factor& factor : form_.factors) {
      const size_t own = next;
      next += factor.random ? 2 : 1;
      if (!factor.random || !factor.tokens) continue;
      const at::Tensor rows = on_device(tokens, parameters[own].device());
      parameters[own].index_fill_(0, rows, 0);
      parameters[own + 1].index_fill_(0, rows, spread_for(nearest_scale(law_, plan_.prior)));
    }
  }

 private:
  struct Values {
    const Factor* factor;
    at::Tensor location, scale;  // scale: undefined for a factor that is not random
  };

  /// Returns the locations and scales of all factors. If `tokens` is defined and a factor has one row per
  /// token, returns the rows of these tokens only. `scales` are those of an earlier call, if any, so that
  /// they are computed once for a draw and its KL.
  std::vector<Values> values_of(std::span<const at::Tensor> parameters, const at::Tensor& tokens,
                                const std::vector<at::Tensor>& scales = {}) const {
    std::vector<Values> all;
    size_t next = 0;
    for (const Factor& factor : form_.factors) {
      const auto taken = [&] {
        const at::Tensor& value = parameters[next++];
        return tokens.defined() && factor.tokens ? value.index_select(0, tokens) : value;
      };
      const size_t i = all.size();
      Values& one = all.emplace_back(Values{&factor, taken(), {}});
      if (!factor.random) continue;
      one.scale = scales.empty() ? at::softplus(taken()) : scales[i];
      next += scales.empty() ? 0 : 1;
    }
    return all;
  }

  const Law& law_;
  SitePlan plan_;
  double rate_;
  FactorForm form_;
};

}  // namespace

std::unique_ptr<const Structure> independent_factors(const SitePlan& plan, double rate, FactorForm form) {
  return std::make_unique<IndependentFactors>(plan, rate, std::move(form));
}

}  // namespace slimbayes
