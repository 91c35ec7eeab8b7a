#include "slimbayes/method/disk_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "slimbayes/core/device.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

bool are_on_disk(const Dataset& rows) { return rows.source && rows.source->on_disk(); }

RankRows readable_rows(const Dataset& rows, const Collective* ranks) {
  return rows_of_rank(rows, are_on_disk(rows) ? ranks : nullptr);
}

at::Tensor drawn_rows(const Dataset& rows, int64_t k, const Stream& stream) {
  const int64_t n = rows.size();
  if (!are_on_disk(rows)) return stream.permutation(n).narrow(0, 0, k);
  const at::Tensor begin = at::floor_divide(at::arange(k + 1, at::kLong) * n, k);
  const at::Tensor length = begin.diff();
  const at::Tensor within = (stream.uniform({k}) * length).to(at::kLong);
  return begin.narrow(0, 0, k) + at::minimum(within, length - 1);
}

RankRows sample_of_rank(const Dataset& rows, const at::Tensor& index, const Collective* ranks) {
  if (!index.defined()) return rows_of_rank(rows, ranks);
  if (ranks == nullptr || !are_on_disk(rows) || rows.size() < ranks->size())
    return rows_of_rank(rows.subset(index), ranks);
  const RankRows own = rows_of_rank(rows, ranks);
  const int64_t low = own.first, high = low + own.rows.size();
  const auto first = (index < low).sum().item<int64_t>(), end = (index < high).sum().item<int64_t>();
  return {rows.subset(index.narrow(0, first, end - first)), first, ranks};
}

Dataset taken_rows(const Dataset& rows, const at::Tensor& index, const Collective* ranks) {
  if (!are_on_disk(rows)) return rows.subset(index);
  const RankRows own = sample_of_rank(rows, index, ranks);
  std::vector<at::Tensor> x, y;
  on_all_ranks(own.ranks, [&] {
    over_batches(own.rows, {}, [&](const Batch& batch) {
      x.push_back(on_cpu(batch.inputs.at(0)));
      y.push_back(on_cpu(batch.target));
    });
  });
  Batch all{{at::cat(x)}, at::cat(y)};
  for (at::Tensor* part : {&all.inputs[0], &all.target}) *part = rows_of_all(*part, own.ranks);
  return on_device(dataset_of(rows.schema, std::move(all)), rows.device());
}

Dataset enough_rows(const Dataset& rows, const Stream& stream, const Collective* ranks) {
  constexpr int64_t kEnough = int64_t{1} << 16;
  if (!are_on_disk(rows)) return rows;
  return taken_rows(rows, drawn_rows(rows, std::min(kEnough, rows.size()), stream), ranks);
}

}  // namespace slimbayes
