// Batches of windows. The rows of the table are encoded once (WindowEncoder::encode); those of a window are
// copied when a batch with the window is requested.
#include "slimbayes/data/windows/window_dataset.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "slimbayes/data/rows/row_tensors.h"

namespace slimbayes {

namespace {

/// A source that makes batches of windows from the matrix of encoded rows and the index of each window's last
/// row.
class WindowSource : public Source {
 public:
  WindowSource(at::Tensor rows, at::Tensor last, int64_t window, at::Tensor target)
      : rows_(std::move(rows)),
        last_(std::move(last)),
        back_(at::arange(1 - window, 1, at::kLong)),
        target_(std::move(target)) {}

  int64_t size() const override { return last_.size(0); }

  Batch rows(const at::Tensor& indices, const RowContext&) const override {
    const at::Tensor last = last_.index_select(0, indices);
    const at::Tensor places = (last.unsqueeze(1) + back_).reshape({-1});
    Batch batch;
    batch.inputs = {rows_.index_select(0, places).view({last.size(0), back_.size(0), rows_.size(1)})};
    if (target_.defined()) batch.target = target_.index_select(0, indices);
    return batch;
  }

 private:
  at::Tensor rows_;    // [n, d] float32, sorted as Windows::order
  at::Tensor last_;    // [m] row of rows_ at which each window ends
  at::Tensor back_;    // [window] rows of a window relative to its last one: 1 - window, ..., 0
  at::Tensor target_;  // [m] float64; undefined without targets
};

/// Returns these numbers as a tensor of this shape, which owns their memory: nothing is copied.
at::Tensor adopted(std::vector<float> numbers, at::IntArrayRef sizes) {
  const auto owner = std::make_shared<std::vector<float>>(std::move(numbers));
  return at::from_blob(
      owner->data(), sizes, [owner](void*) {}, at::kFloat);
}

}  // namespace

Dataset window_dataset(const WindowEncoder& encoder, const WindowTable& given, bool with_target,
                       std::vector<BadRow>* bad) {
  WindowRows encoded = encoder.encode(given, bad);
  const Schema& schema = encoder.schema();
  at::Tensor rows =
      adopted(std::move(encoded.rows), {std::ssize(given.windows->order), std::ssize(schema.features)});
  at::Tensor target;
  if (with_target) target = target_tensor(target_rows(given), encoder.target_name(), schema.task);
  return {schema, std::make_shared<WindowSource>(std::move(rows), at::tensor(encoded.last, at::kLong),
                                                 encoder.options().window, std::move(target))};
}

}  // namespace slimbayes
