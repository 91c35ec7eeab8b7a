// What the commands have in common that several processes share (`torchrun -m slimbayes`).
#include "cli/ranks.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/version.h"

namespace slimbayes::cli {
namespace {

void check_versions(const Collective& ranks) {
  const std::vector<std::string> all = gather_texts(ranks, version());
  together(&ranks, [&] {
    for (size_t r = 1; r < all.size(); ++r)
      if (all[r] != all[0])
        refuse("ranks", fmt::format("version {} on every rank", all[0]),
               fmt::format("{} on rank {}", all[r], r), "install one version everywhere");
  });
}

}  // namespace

std::shared_ptr<const Collective> ranks_of(const RankOfGroup& rank) {
  if (rank.group.empty()) return nullptr;
  auto ranks = process_group(rank.group, rank.number, rank.size);
  check_versions(*ranks);
  return ranks;
}

}  // namespace slimbayes::cli
