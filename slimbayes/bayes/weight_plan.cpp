#include "slimbayes/bayes/weight_plan.h"

#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/json_reader.h"

namespace slimbayes {

WeightPlan plan_for_all(const NetworkLayout& layout, const SitePlan& each) {
  WeightPlan plan;
  for (const MapSite& site : layout.sites) {
    plan.sites[site.name] = each;
    if (site.bias.empty()) continue;
    SitePlan bias = each;  // low_rank is for matrices only
    bias.structure = "mean_field";
    bias.rank = 0;
    plan.sites[site.bias] = bias;
  }
  return plan;
}

nlohmann::json to_json(const WeightPlan& plan) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, site] : plan.sites)
    json[name] = {{"structure", site.structure},
                  {"law", site.law},
                  {"prior", to_json(site.prior)},
                  {"start_scale", site.start_scale},
                  {"rank", site.rank}};
  return json;
}

WeightPlan weight_plan_from_json(const nlohmann::json& json) {
  check(json.is_object(), "weight_plan", "an object of sites", json.type_name());
  WeightPlan plan;
  for (const auto& [name, member] : json.items()) {
    const JsonReader reader(member, "weight_plan");
    SitePlan site{reader.text("structure"), reader.text("law"), prior_from_json(reader.value("prior")),
                  reader.number("start_scale"), reader.count("rank", 0, int64_t{1} << 24)};
    check(site.start_scale > 0, "weight_plan", "a start_scale above 0", fmt::format("{}", site.start_scale));
    plan.sites[name] = site;
  }
  return plan;
}

}  // namespace slimbayes
