#include "slimbayes/bayes/weight_plan.h"

#include <fmt/format.h>

#include "slimbayes/bayes/structure.h"
#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

WeightPlan plan_for_all(const NetworkLayout& layout, const SitePlan& each) {
  WeightPlan plan;
  for (const MapSite& site : layout.sites) {
    plan.sites[site.name] = each;
    if (site.bias.empty() || takes_bias(each)) continue;
    SitePlan bias = each;  // low_rank is for matrices only
    bias.structure = "mean_field";
    bias.rank = 0;
    plan.sites[site.bias] = bias;
  }
  return plan;
}

namespace {

nlohmann::json to_json(const InducingPlan& plan) {
  return {{"rows", plan.rows},
          {"columns", plan.columns},
          {"conditional", plan.conditional},
          {"flow", plan.flow},
          {"start_noise", plan.start_noise},
          {"most_noise", plan.most_noise},
          {"start_sd", plan.start_sd},
          {"most_sd", plan.most_sd},
          {"start_diagonal", plan.start_diagonal},
          {"noisy_z", plan.noisy_z ? 1 : 0}};
}

InducingPlan inducing_plan_from(const nlohmann::json& json) {
  const JsonReader reader(json, "weight_plan");
  constexpr int64_t kMost = 65536;  // a damaged file must not ask for huge masks of a flow
  return {.rows = reader.count("rows", 1, kMost),
          .columns = reader.count("columns", 1, kMost),
          .conditional = reader.text("conditional"),
          .flow = reader.text("flow"),
          .start_noise = reader.number("start_noise"),
          .most_noise = reader.number("most_noise"),
          .start_sd = reader.number("start_sd"),
          .most_sd = reader.number("most_sd"),
          .start_diagonal = reader.number("start_diagonal"),
          .noisy_z = reader.count("noisy_z", 0, 1) == 1};
}

}  // namespace

nlohmann::json to_json(const WeightPlan& plan) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, site] : plan.sites) {
    json[name] = {{"structure", site.structure},     {"law", site.law},
                  {"prior", to_json(site.prior)},    {"start_scale", site.start_scale},
                  {"start_ratio", site.start_ratio}, {"start", site.start},
                  {"damping", site.damping},         {"rank", site.rank}};
    if (site.inducing.rows > 0) json[name]["inducing"] = to_json(site.inducing);
  }
  return json;
}

WeightPlan weight_plan_from_json(const nlohmann::json& json) {
  if (!json.is_object()) refuse("weight_plan", "an object of sites", json.type_name());
  WeightPlan plan;
  for (const auto& [name, member] : json.items()) {
    const JsonReader reader(member, "weight_plan");
    SitePlan site{.structure = reader.text("structure"),
                  .law = reader.text("law"),
                  .prior = prior_from_json(reader.value("prior")),
                  .start_scale = reader.number("start_scale"),
                  .start_ratio = reader.number("start_ratio"),
                  .start = reader.text("start"),
                  .damping = reader.number("damping"),
                  .rank = reader.count("rank", 0, int64_t{1} << 24)};
    if (reader.has("inducing")) site.inducing = inducing_plan_from(reader.value("inducing"));
    if (!(site.start_scale > 0))
      refuse("weight_plan", "a start_scale above 0", fmt::format("{}", site.start_scale));
    if (!(site.start_ratio >= 0))
      refuse("weight_plan", "a start_ratio of at least 0", fmt::format("{}", site.start_ratio));
    if (!(site.damping > 0)) refuse("weight_plan", "a damping above 0", fmt::format("{}", site.damping));
    check(site.start == "random" || site.start == "svd", "weight_plan", "the start random or svd",
          site.start);
    plan.sites[name] = site;
  }
  return plan;
}

}  // namespace slimbayes
