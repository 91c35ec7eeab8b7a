#include "slimbayes/data/split/folds.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

std::vector<Fold> deal_folds(const std::vector<int64_t>& group, int64_t folds, double valid_fraction,
                             const Stream& stream) {
  const int64_t groups = group.empty() ? 0 : 1 + *std::ranges::max_element(group);
  if (!(folds >= 2 && groups >= 2))
    refuse("deal_folds", "at least 2 folds of at least 2 groups",
           fmt::format("{} folds of {} groups", folds, groups));
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(groups));
  for (size_t row = 0; row < group.size(); ++row)
    rows[static_cast<size_t>(group[row])].push_back(static_cast<int64_t>(row));
  const auto add = [&](std::vector<int64_t>& list, size_t g) {
    list.insert(list.end(), rows[g].begin(), rows[g].end());
  };
  const auto order = [&](const Stream& from) {
    const at::Tensor p = from.permutation(groups).contiguous();
    return std::vector<size_t>(p.const_data_ptr<int64_t>(), p.const_data_ptr<int64_t>() + groups);
  };

  std::vector<Fold> dealt(static_cast<size_t>(std::min(folds, groups)));
  std::vector<size_t> fold_of(static_cast<size_t>(groups));
  for (size_t g : order(stream)) {
    const auto least = std::ranges::min_element(dealt, {}, [](const Fold& f) { return f.held.size(); });
    fold_of[g] = static_cast<size_t>(least - dealt.begin());
    add(least->held, g);
  }
  for (size_t k = 0; k < dealt.size(); ++k) {
    Fold& fold = dealt[k];
    const size_t rest = group.size() - fold.held.size();
    const auto share = static_cast<size_t>(std::ceil(valid_fraction * static_cast<double>(rest) - 1e-9));
    const size_t wanted = std::min(share, rest - 1);
    std::vector<size_t> others;
    for (size_t g : order(stream.split(static_cast<uint64_t>(k)))) {
      if (fold_of[g] != k) others.push_back(g);
    }
    // If every group is larger than the wanted validation part, the smallest group becomes the validation
    // part.
    const size_t smallest = *std::ranges::min_element(others, {}, [&](size_t g) { return rows[g].size(); });
    for (size_t g : others) {
      const bool fits = fold.valid.size() + rows[g].size() <= wanted;
      const bool only = wanted > 0 && g == smallest && rows[g].size() > wanted && others.size() > 1;
      add(fits || only ? fold.valid : fold.train, g);
    }
    for (auto* list : {&fold.train, &fold.valid, &fold.held}) std::ranges::sort(*list);
  }
  return dealt;
}

}  // namespace slimbayes
