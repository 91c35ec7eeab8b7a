#include "slimbayes/bayes/prior.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/bayes/gaussian_kl.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

at::Tensor kl_of(const LawValues& q, const NormalPrior& prior) {
  return q.law.kl_to_normal(q.location, q.scale, prior.sd);
}

at::Tensor kl_of(const LawValues& q, const MixturePrior& prior) {
  const Law& normal = find_law("gaussian");
  const at::Tensor zero = at::zeros({}, q.draw.options());
  const auto part = [&](double share, double sd) {
    return normal.log_density(q.draw, zero, at::full({}, sd, q.draw.options())) + std::log(share);
  };
  const at::Tensor log_prior =
      at::logaddexp(part(prior.share, prior.wide), part(1 - prior.share, prior.narrow));
  return q.law.log_density(q.draw, q.location, q.scale) - log_prior;
}

}  // namespace

at::Tensor kl_elements(const LawValues& q, const Prior& prior) {
  return std::visit([&](const auto& one) { return kl_of(q, one); }, prior);
}

at::Tensor kl_sum(const LawValues& q, const Prior& prior) {
  const auto* normal = std::get_if<NormalPrior>(&prior);
  if (q.law.name != "gaussian" || !q.location.is_cpu()) return kl_elements(q, prior).sum();
  if (normal != nullptr) return gaussian_kl_sum(q.location, q.scale, normal->sd);
  const auto& mixture = std::get<MixturePrior>(prior);
  const bool two = mixture.share > 0 && mixture.share < 1;
  return two ? gaussian_mixture_kl_sum(q.draw, q.location, q.scale, mixture) : kl_elements(q, prior).sum();
}

double nearest_scale(const Law& law, const Prior& prior) {
  const auto* normal = std::get_if<NormalPrior>(&prior);
  // KL(law || N(0, sd^2)) = (law.sd scale)^2 / (2 sd^2) - log scale + a constant, least at law.sd scale = sd.
  return (normal != nullptr ? normal->sd : std::get<MixturePrior>(prior).wide) / law.sd;
}

Prior matched_to_dense(const Prior& dense, int64_t rank) {
  // If v is the variance of `dense`, that of a factor's element must be sqrt(v / r): (r v)^(-1/4) times the
  // sd.
  const auto factor = [rank](double var) { return std::pow(static_cast<double>(rank) * var, -0.25); };
  if (const auto* normal = std::get_if<NormalPrior>(&dense))
    return NormalPrior{normal->sd * factor(normal->sd * normal->sd)};
  MixturePrior mixture = std::get<MixturePrior>(dense);
  const double by = factor(mixture.share * mixture.wide * mixture.wide +
                           (1 - mixture.share) * mixture.narrow * mixture.narrow);
  mixture.wide *= by;
  mixture.narrow *= by;
  return mixture;
}

bool needs_draw(const Prior& prior) { return std::holds_alternative<MixturePrior>(prior); }

nlohmann::json to_json(const Prior& prior) {
  if (const auto* normal = std::get_if<NormalPrior>(&prior)) return {{"kind", "normal"}, {"sd", normal->sd}};
  const auto& mixture = std::get<MixturePrior>(prior);
  return {{"kind", "mixture"}, {"share", mixture.share}, {"wide", mixture.wide}, {"narrow", mixture.narrow}};
}

Prior prior_from_json(const nlohmann::json& json) {
  const JsonReader reader(json, "prior");
  const auto sd = [&](const char* key) {
    const double value = reader.number(key);
    if (!(value > 0)) refuse("prior", fmt::format("a number above 0 in '{}'", key), fmt::format("{}", value));
    return value;
  };
  const std::string kind = reader.text("kind");
  check(kind == "normal" || kind == "mixture", "prior", "the kind normal or mixture", kind);
  if (kind == "normal") return NormalPrior{sd("sd")};
  const double share = reader.number("share");
  if (!(share >= 0 && share <= 1)) refuse("prior", "a share from 0 to 1", fmt::format("{}", share));
  return MixturePrior{share, sd("wide"), sd("narrow")};
}

}  // namespace slimbayes
