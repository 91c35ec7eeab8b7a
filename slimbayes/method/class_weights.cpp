#include "slimbayes/method/class_weights.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "slimbayes/answers/pixels.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/rank_rows.h"

namespace slimbayes {

at::Tensor class_weights(const std::string& kind, const Dataset& rows, std::string_view method,
                         const Collective* ranks) {
  if (kind == "none") return {};
  const Task& task = rows.schema.task;
  if (task.kind != TaskKind::classification)
    refuse(method, "classes for class_weights " + kind, std::string(name_of(task.kind)),
           "leave `.class_weights` out");
  const int64_t classes = std::max<int64_t>(2, task.outputs);
  at::Tensor count = at::zeros({classes}, at::kDouble);
  const RankRows own = rows_of_rank(rows, ranks);
  on_all_ranks(own.ranks, [&] {
    over_batches(own.rows, {}, [&](const Batch& batch) {
      const at::Tensor label = on_cpu(batch.target), y = label.masked_select(label != kVoid);
      count.add_(
          at::bincount(y.to(at::kLong), on_cpu(batch.weight), classes));  // weighted rows have no void pixel
    });
  });
  sum_over_ranks({count}, own.ranks);
  const at::Tensor weights = count.sum() / ((count > 0).sum() * count);
  return on_device(at::where(count > 0, weights, 0.0).to(at::kFloat), rows.device());
}

void check_label_smoothing(double share, const Task& task, std::string_view method) {
  if (share != 0 && task.kind != TaskKind::classification)
    refuse(method, fmt::format("classes for label_smoothing {}", share), std::string(name_of(task.kind)),
           "leave `.label_smoothing` out");
}

at::Tensor weighted(const at::Tensor& loss, const at::Tensor& y, const at::Tensor& weights) {
  return weights.defined() ? loss * weights.index_select(0, y.to(at::kLong)) : loss;
}

double weighted_nll(const Classes& p, const at::Tensor& y, const at::Tensor& weights,
                    const at::Tensor& of_rows) {
  const at::Tensor label = y.to(at::kLong);
  const at::Tensor own = p.probabilities.gather(1, label.unsqueeze(1)).squeeze(1);
  const at::Tensor loss = -at::log(own.clamp_min(std::numeric_limits<double>::min()));
  return weighted_mean(weighted(loss, label, on_cpu(weights).to(at::kDouble)), of_rows);
}

}  // namespace slimbayes
