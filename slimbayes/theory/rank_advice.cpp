#include "slimbayes/theory/rank_advice.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/singular_values.h"

namespace slimbayes {

namespace {

constexpr int64_t kShownRanks[] = {1, 2, 4, 8, 16, 25, 32, 64};
constexpr double kShownShares[] = {0.9, 0.95, 0.99};

MatrixAdvice advice_on(const std::string& name, const MapSite& site, const at::Tensor& matrix,
                       double energy) {
  const at::Tensor s = singular_values(matrix);
  MatrixAdvice one{name,
                   site.layer,
                   site.out,
                   site.in,
                   {},
                   {},
                   {},
                   rank_for_energy(s, energy),
                   largest_saving_rank(site.out, site.in),
                   0};
  one.values.assign(s.const_data_ptr<double>(), s.const_data_ptr<double>() + s.numel());
  for (int64_t rank : kShownRanks)
    if (rank < s.size(0)) one.kept.emplace_back(rank, energy_kept(s, rank));
  for (double share : kShownShares) one.for_share.emplace_back(share, rank_for_energy(s, share));
  one.saved = site.out * site.in - one.rank * (site.out + site.in);
  return one;
}

}  // namespace

RankAdvice rank_advice(const std::vector<ModelNetwork>& networks, double energy) {
  check_options(RankOptions{.energy = energy}, "rank_advice");
  RankAdvice advice{energy, {}, 0, {}};
  std::vector<std::string> layers;
  for (const ModelNetwork& network : networks) {
    const NetworkLayout layout(network.file.spec, "network");
    const Binding weights = mean_weights(network);
    for (size_t i = 0; i < layout.sites.size(); ++i) {
      const MapSite& site = layout.sites[i];
      const std::string name = (network.name.empty() ? "" : network.name + ": ") + site.name;
      MatrixAdvice one = advice_on(name, site, dense(weights.maps[i]).flatten(1), energy);
      if (one.rank <= one.largest_saving) advice.rank = std::max(advice.rank, one.rank);
      const auto at = std::ranges::find(layers, site.layer);
      if (at == layers.end()) {
        layers.push_back(site.layer);
        advice.layer_ranks.push_back(one.rank);
      } else {
        int64_t& rank = advice.layer_ranks[static_cast<size_t>(at - layers.begin())];
        rank = std::max(rank, one.rank);
      }
      advice.matrices.push_back(std::move(one));
    }
  }
  return advice;
}

}  // namespace slimbayes
