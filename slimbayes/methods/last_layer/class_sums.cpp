#include "slimbayes/methods/last_layer/class_sums.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/methods/last_layer/fitted_last_layer.h"

namespace slimbayes {

namespace {

/// Rows of one class. Each row has a random key, and the rows with the least keys are a random sample.
struct KeyedRows {
  at::Tensor key = at::empty({0}, at::kDouble), place = at::empty({0}, at::kLong);

  void keep(const at::Tensor& order) {
    key = key.index_select(0, order);
    place = place.index_select(0, order);
  }

  /// Adds rows and leaves out all but the `most` with the least keys.
  void add(const at::Tensor& keys, const at::Tensor& places, int64_t most) {
    key = at::cat({key, keys});
    place = at::cat({place, places});
    if (key.size(0) > most) keep(std::get<1>(key.topk(most, 0, /*largest=*/false, /*sorted=*/false)));
  }
};

std::vector<KeyedRows> drawn_by_class(const Dataset& rows, int64_t classes, int64_t most,
                                      const Stream& stream) {
  std::vector<KeyedRows> all(static_cast<size_t>(classes));
  int64_t from = 0;
  uint64_t number = 0;
  over_batches(rows, {}, [&](const Batch& batch) {
    const at::Tensor y = on_cpu(batch.target).to(at::kLong),
                     keys = stream.split(number++).uniform({y.size(0)});
    for (int64_t c = 0; c < classes; ++c) {
      const at::Tensor here = at::nonzero(y == c).squeeze(1);
      if (here.size(0) > 0) all[static_cast<size_t>(c)].add(keys.index_select(0, here), here + from, most);
    }
    from += y.size(0);
  });
  return all;
}

/// Leaves out the rows that are not among the `most` with the least keys of all ranks.
void keep_least_of_ranks(std::vector<KeyedRows>& classes, int64_t most, const Collective& ranks) {
  int64_t longest = 0;
  for (const KeyedRows& one : classes) longest = std::max(longest, one.key.size(0));
  longest = ranks.gather(at::full({}, longest, at::kLong)).max().item<int64_t>();
  const at::Tensor keys = at::full({std::ssize(classes), longest}, INFINITY, at::kDouble);
  for (size_t c = 0; c < classes.size(); ++c)
    keys[static_cast<int64_t>(c)].narrow(0, 0, classes[c].key.size(0)).copy_(classes[c].key);
  const at::Tensor of_all = ranks.gather(keys);  // [ranks, classes, longest]
  for (size_t c = 0; c < classes.size(); ++c) {
    const at::Tensor sorted = std::get<0>(of_all.select(1, static_cast<int64_t>(c)).flatten().sort());
    if (sorted.size(0) <= most) continue;
    classes[c].keep(at::nonzero(classes[c].key <= sorted[most - 1]).squeeze(1));
  }
}

}  // namespace

std::vector<LinearStatistics> class_sums(const LastLayerFeatures& features, const RankRows& own, int64_t most,
                                         const Stream& stream) {
  const int64_t k = features.outputs();
  Stream draw = stream.split("class");
  if (own.ranks != nullptr) draw = draw.split("rank").split(static_cast<uint64_t>(own.ranks->rank()));
  std::vector<KeyedRows> drawn;
  on_all_ranks(own.ranks, [&] { drawn = drawn_by_class(own.rows, std::max<int64_t>(2, k), most, draw); });
  if (own.ranks != nullptr) keep_least_of_ranks(drawn, most, *own.ranks);
  std::vector<at::Tensor> places;
  for (const KeyedRows& one : drawn) places.push_back(one.place);
  const at::Tensor in_order = std::get<0>(at::cat(places).sort());
  std::vector<LinearStatistics> sums(static_cast<size_t>(k), linear_statistics(features.rank()));
  on_all_ranks(own.ranks, [&] {
    if (in_order.size(0) == 0) return;
    over_evaluated(features, own.rows.subset(in_order), [&](const EvaluatedRows& rows) {
      for (int64_t c = 0; c < k; ++c) {
        LinearStatistics& of_class = sums[static_cast<size_t>(c)];
        of_class = added(std::move(of_class), rows_of_output(rows, c, /*regression=*/false));
      }
    });
  });
  for (LinearStatistics& one : sums) one = summed(one, own.ranks);
  return sums;
}

}  // namespace slimbayes
