#include "slimbayes/data/rows/row_tensors.h"

#include <ATen/ATen.h>

#include <utility>

#include "slimbayes/encoding/target.h"

namespace slimbayes {

at::Tensor input_tensor(const Encoder& encoder, const Table& table, std::vector<BadRow>* bad) {
  at::Tensor x = at::empty({table.rows, std::ssize(encoder.schema().features)}, at::kFloat);
  encoder.inputs(table, {x.data_ptr<float>(), static_cast<size_t>(x.numel())}, bad);
  return x;
}

at::Tensor target_tensor(const Table& table, const std::string& target, const Task& task) {
  return at::tensor(target_values(table, target, task), at::kDouble);
}

Dataset row_dataset(const Encoder& encoder, const Table& table, bool with_target, std::vector<BadRow>* bad) {
  Batch rows{{input_tensor(encoder, table, bad)}};
  const Task& task = encoder.schema().task;
  if (with_target && task.kind != TaskKind::events)
    rows.target = target_tensor(table, encoder.target_name(), task);
  return dataset_of(encoder.schema(), std::move(rows));
}

}  // namespace slimbayes
