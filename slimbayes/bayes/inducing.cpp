#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "slimbayes/bayes/inducing_conditional.h"
#include "slimbayes/bayes/row_flow.h"
#include "slimbayes/bayes/structures.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr double kStartOfZ = 1e-3;  // initial sd of a row of Z that varies

/// Returns the value of which softplus is `x`.
double softplus_inverse(double x) { return std::log(std::expm1(x)); }

/// Returns the value of which cap * sigmoid is `x`.
double capped_inverse(double x, double cap) { return std::log(x / (cap - x)); }

RowFlowSpec flow_spec(const InducingPlan& plan) {
  if (plan.flow == "certified") return {.features = plan.columns};
  return {.features = plan.columns,
          .layers = 5,
          .form = plan.flow == "paper" ? FlowForm::paper : FlowForm::spectral};
}

class Inducing : public Structure {
 public:
  Inducing(const RandomSite& site, const SitePlan& plan)
      : site_(site), plan_(plan.inducing), prior_sd_(std::get<NormalPrior>(plan.prior).sd) {
    if (plan_.flow != "none") flow_.emplace(flow_spec(plan_));
  }

  std::vector<ParameterSpec> parameters(const at::Tensor&, const Stream& stream) const override {
    const Stream own = stream.split(site_.name);
    std::vector<at::Tensor> flow;
    if (flow_) flow = flow_->start(own.split("flow"));
    std::vector<ParameterSpec> all;
    for (auto& [name, sizes] : shapes()) {
      const size_t i = all.size();
      const bool spread =
          i == kSpread || i == kRowSd || i == kColumnSd || i == kNoise || (i > kNoise && i < first_of_flow());
      at::Tensor start;
      if (i == kMean) start = own.split("mean").normal(sizes);
      if (i == kSpread) start = at::full(sizes, capped_inverse(plan_.start_sd, plan_.most_sd), at::kDouble);
      if (i == kRowZ || i == kColumnZ)
        start = own.split(name).normal(sizes) / std::sqrt(static_cast<double>(sizes[0]));
      if (i == kRowSd || i == kColumnSd)
        start = at::full(sizes, softplus_inverse(plan_.start_diagonal), at::kDouble);
      if (i == kNoise) start = at::full({}, capped_inverse(plan_.start_noise, plan_.most_noise), at::kDouble);
      if (i > kNoise)
        start = i < first_of_flow() ? at::full(sizes, softplus_inverse(kStartOfZ), at::kDouble)
                                    : flow[i - first_of_flow()];
      all.push_back({name, spread ? "spread" : "network", std::move(start), site_.rate});
    }
    return all;
  }

  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes() const override {
    const auto& [name, r, c] = std::tie(site_.name, plan_.rows, plan_.columns);
    std::vector<std::pair<std::string, std::vector<int64_t>>> all = {{name + ".inducing", {r, c}},
                                                                     {name + ".inducing.spread", {r, c}},
                                                                     {name + ".z_rows", {r, site_.out}},
                                                                     {name + ".z_columns", {c, columns()}},
                                                                     {name + ".d_rows", {r}},
                                                                     {name + ".d_columns", {c}},
                                                                     {name + ".noise", {}}};
    if (plan_.noisy_z) {
      all.emplace_back(name + ".z_rows.spread", std::vector<int64_t>{r, 1});
      all.emplace_back(name + ".z_columns.spread", std::vector<int64_t>{c, 1});
    }
    if (flow_)
      for (auto& [own, sizes] : flow_->shapes()) all.emplace_back(name + ".flow." + own, sizes);
    return all;
  }

  SiteDraw draw(std::span<const at::Tensor> parameters, const Stream& stream,
                const DrawContext&) const override {
    const Stream own = stream.split(site_.name);
    const at::Tensor& mean = parameters[kMean];
    const at::Tensor sd = plan_.most_sd * parameters[kSpread].sigmoid();
    const at::Tensor e = own.split("u").normal_float32(mean.sizes(), mean.device()).to(mean.scalar_type());
    const Whitened white = whitened(parameters, mean + sd * e);
    SiteDraw drawn{DenseMap{}, {white.values, white.log_det}, {sd}, {}};
    const auto [rows, columns] = sides(parameters, &own);
    // The sd of the prior multiplies the small matrices, not W.
    drawn.numbers.push_back(unwhitened(rows, columns, white.values));
    const at::Tensor u = prior_sd_ * drawn.numbers[2], noise_scale = prior_sd_ * noise(parameters);
    if (plan_.conditional == "matheron") {
      MatheronNoise noise = matheron_noise(rows, columns, own);
      for (at::Tensor* part : {&noise.w, &noise.e2, &noise.e3, &noise.e4})
        *part = part->to(mean.scalar_type());
      return with_matrix(std::move(drawn), matrix(conditional_draw(rows, columns, u, noise_scale, noise)));
    }
    const at::Tensor w = conditional_mean(rows, columns, u);
    const at::Tensor own_noise = own.split("w").normal_float32(w.sizes(), w.device()).to(w.scalar_type());
    return with_matrix(std::move(drawn), matrix(with_noise(w, own_noise, noise_scale)));
  }

  bool draws_matrix() const override { return true; }

  /// KL(q(V) || N(0, I)) and the KL of the scaled conditional noise. Without a flow both in closed form; with
  /// one, the entropy of the base is in closed form and the rest an estimate from the draw (eq. 11).
  at::Tensor kl(std::span<const at::Tensor> parameters, const SiteDraw& draw,
                const at::Tensor&) const override {
    const at::Tensor of_noise = conditional_kl(noise(parameters), site_.out * columns());
    const at::Tensor &mean = parameters[kMean], &sd = draw.scales[0];
    if (!flow_) return of_noise + (0.5 * (sd.square() + mean.square() - 1) - sd.log()).sum();
    const auto count = static_cast<double>(mean.numel());
    return of_noise + 0.5 * draw.numbers[0].square().sum() - sd.log().sum() - draw.numbers[1] - 0.5 * count;
  }

  SiteMatrix mean(std::span<const at::Tensor> parameters) const override {
    const auto [rows, columns] = sides(parameters, nullptr);
    const at::Tensor v = whitened(parameters, parameters[kMean]).values;
    return matrix(conditional_mean(rows, columns, prior_sd_ * unwhitened(rows, columns, v)));
  }

  double jitter(std::span<const at::Tensor> parameters) const override {
    const auto relative = [](const InducingSide& side) {
      if (side.jitter == 0) return 0.0;
      return side.jitter / side.chol.square().sum(1).mean().item<double>();  // the mean diagonal of K
    };
    const auto [rows, columns] = sides(parameters, nullptr);
    return std::max(relative(rows), relative(columns));
  }

  std::vector<FactorPosterior> factors(std::span<const at::Tensor>) const override {
    refuse("weight_plan", "independent random numbers at every site",
           fmt::format("inducing weights at '{}', whose matrix depends on all of them", site_.name));
  }

  void rows_to_prior(std::span<const at::Tensor>, const at::Tensor&) const override {
    internal_check(false, "Structure::rows_to_prior", "inducing weights stand at no embedding");
  }

 private:
  enum Place : size_t { kMean, kSpread, kRowZ, kColumnZ, kRowSd, kColumnSd, kNoise };

  struct Whitened {
    at::Tensor values;   // V [M_out, M_in]
    at::Tensor log_det;  // of the flow, summed over the rows; 0 without one
  };

  int64_t columns() const { return site_.in + (site_.bias ? 1 : 0); }

  at::Tensor noise(std::span<const at::Tensor> parameters) const {
    return plan_.most_noise * parameters[kNoise].sigmoid();
  }

  /// Returns the two sides. With a stream, each row of Z varies around its place if the plan says so.
  std::pair<InducingSide, InducingSide> sides(std::span<const at::Tensor> parameters,
                                              const Stream* stream) const {
    const auto place = [&](Place z, size_t spread, const char* name) {
      if (!plan_.noisy_z || stream == nullptr) return parameters[z];
      const at::Tensor& own = parameters[z];
      const at::Tensor e =
          stream->split(name).normal_float32(own.sizes(), own.device()).to(own.scalar_type());
      return own + at::softplus(parameters[spread]) * e;
    };
    return {inducing_side(place(kRowZ, kNoise + 1, "z_rows"), at::softplus(parameters[kRowSd])),
            inducing_side(place(kColumnZ, kNoise + 2, "z_columns"), at::softplus(parameters[kColumnSd]))};
  }

  /// Returns the place of the flow's first parameter.
  size_t first_of_flow() const { return kNoise + (plan_.noisy_z ? 3 : 1); }

  Whitened whitened(std::span<const at::Tensor> parameters, const at::Tensor& u0) const {
    if (!flow_) return {u0, at::zeros({}, u0.options())};
    const RowFlow::Image image = (*flow_)(u0, parameters.subspan(first_of_flow()));
    return {image.values, image.log_det.sum()};
  }

  /// Returns the layer's matrix and bias for W [out, in] or [out, in + 1].
  SiteMatrix matrix(const at::Tensor& w) const {
    if (!site_.bias) return {DenseMap{w.reshape(site_.sizes)}};
    return {DenseMap{w.narrow(1, 0, site_.in).reshape(site_.sizes)}, w.select(1, site_.in)};
  }

  static SiteDraw with_matrix(SiteDraw drawn, SiteMatrix values) {
    drawn.map = std::move(values.map);
    drawn.bias = std::move(values.bias);
    return drawn;
  }

  RandomSite site_;
  InducingPlan plan_;
  double prior_sd_;
  std::optional<RowFlow> flow_;
};

void check_plan(const RandomSite& site, const SitePlan& plan) {
  const InducingPlan& own = plan.inducing;
  const auto at = [&](const char* what) { return fmt::format("{} at '{}'", what, site.name); };
  if (!(own.rows > 0 && own.columns > 0))
    refuse("inducing", at("at least one inducing row and column"),
           fmt::format("{} and {}", own.rows, own.columns));
  if (site.tokens) refuse("inducing", "no inducing weights at an embedding", fmt::format("'{}'", site.name));
  if (!std::holds_alternative<NormalPrior>(plan.prior)) refuse("inducing", at("the prior normal"), "mixture");
  if (own.conditional != "matheron" && own.conditional != "reparam")
    refuse("inducing", at("the conditional matheron or reparam"), own.conditional);
  if (own.flow != "none" && own.flow != "certified" && own.flow != "paper" && own.flow != "spectral")
    refuse("inducing", at("the flow none, certified, paper or spectral"), own.flow);
  if (!(0 < own.start_noise && own.start_noise < own.most_noise))
    refuse("inducing", at("a start_noise between 0 and most_noise"), fmt::format("{}", own.start_noise));
  if (!(0 < own.start_sd && own.start_sd < own.most_sd))
    refuse("inducing", at("a start_sd between 0 and most_sd"), fmt::format("{}", own.start_sd));
  if (!(own.start_diagonal > 0))
    refuse("inducing", at("a start_diagonal above 0"), fmt::format("{}", own.start_diagonal));
}

}  // namespace

std::unique_ptr<const Structure> make_inducing(const RandomSite& site, const SitePlan& plan) {
  check_plan(site, plan);
  return std::make_unique<Inducing>(site, plan);
}

}  // namespace slimbayes
