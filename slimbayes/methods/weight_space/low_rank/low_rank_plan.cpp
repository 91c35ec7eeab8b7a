#include "slimbayes/methods/weight_space/low_rank/low_rank_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

int64_t rank_in(const std::string& text) {
  int64_t rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!(whole && rank >= 1 && rank <= kMostRank))
    refuse("layer_ranks", fmt::format("ranks from 1 to {}, such as 14,20", kMostRank),
           fmt::format("'{}'", foreign_text(text.substr(0, 40))));
  return rank;
}

/// Returns the rank that the options give to the matrices of each layer, by the layer's name.
std::map<std::string, int64_t> ranks_of(const NetworkLayout& layout, const LowRankOptions& options) {
  std::vector<std::string> layers;
  for (const MapSite& site : layout.sites)
    if (layers.empty() || layers.back() != site.layer) layers.push_back(site.layer);
  std::vector<std::string> given;
  for (const std::string& entry : options.layer_ranks)  // the flag gives "14,20" as one entry
    for (std::string& one : split_list(entry)) given.push_back(std::move(one));
  if (!(given.size() <= layers.size()))
    refuse("layer_ranks", fmt::format("at most {} ranks, one for each layer with matrices", layers.size()),
           fmt::format("{}", given.size()));
  std::map<std::string, int64_t> ranks;
  for (size_t i = 0; i < layers.size(); ++i)
    ranks[layers[i]] = given.empty() ? options.rank : rank_in(given[std::min(i, given.size() - 1)]);
  return ranks;
}

}  // namespace

WeightPlan low_rank_plan(const NetworkLayout& layout, const LowRankOptions& options, const std::string& law,
                         const std::string& start) {
  if (!options.clip_rank && options.factored != "all")
    refuse("clip_rank", "`.factored=all` with `.clip_rank=false`",
           fmt::format("`.factored={}`", options.factored),
           "a matrix whose rank is not clipped does not get smaller");
  const Prior prior = prior_of(options.variational);
  const std::map<std::string, int64_t> ranks = ranks_of(layout, options);
  WeightPlan plan = independent_plan(layout, options.variational, law);
  for (const MapSite& site : layout.sites) {
    const int64_t least = std::min(site.out, site.in), asked = ranks.at(site.layer);
    const int64_t rank = options.clip_rank ? std::min(asked, least) : asked;
    const bool smaller = rank * (site.out + site.in) < site.out * site.in;
    if (!smaller && options.factored == "smaller") continue;
    SitePlan& own = plan.sites[site.name];
    own.structure = "low_rank";
    own.rank = rank;
    own.start = start;
    own.start_ratio = options.start_share;
    own.damping = options.damping;
    if (options.match_prior) own.prior = matched_to_dense(prior, rank);
  }
  return plan;
}

std::string note_on_factors(const TrainedPlan& trained) {
  const auto factored = [](const auto& site) { return site.second.rank > 0; };
  if (std::ranges::any_of(trained.plan.sites, factored)) return "";
  return "no matrix is a product of factors, because none would have fewer parameters so: lower `.rank`, "
         "take "
         "a wider network (`.hidden`), or use `.factored=all`";
}

}  // namespace slimbayes
