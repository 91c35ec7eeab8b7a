#include "slimbayes/data/text/text_dataset.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>

#include "slimbayes/data/rows/row_tensors.h"

namespace slimbayes {

namespace {

/// A source that stores the tokens of all rows in one list and gives batches padded to their longest row.
class TextSource : public Source {
 public:
  TextSource(at::Tensor tokens, at::Tensor offsets, at::Tensor target)
      : tokens_(std::move(tokens)), offsets_(std::move(offsets)), target_(std::move(target)) {}

  int64_t size() const override { return offsets_.size(0) - 1; }
  at::Tensor lengths() const override { return offsets_.diff(); }

  Batch rows(const at::Tensor& indices, const RowContext&) const override {
    const at::Tensor first = offsets_.index_select(0, indices);
    const at::Tensor length = offsets_.index_select(0, indices + 1) - first;
    const int64_t longest = indices.numel() == 0 ? 1 : length.max().item<int64_t>();
    const at::Tensor place = at::arange(longest, at::kLong);
    Batch batch;
    batch.mask = place.unsqueeze(0) < length.unsqueeze(1);
    const at::Tensor from = at::where(batch.mask, first.unsqueeze(1) + place, at::zeros({}, at::kLong));
    const at::Tensor found = tokens_.index_select(0, from.reshape({-1})).view(from.sizes()).to(at::kLong);
    batch.inputs = {at::where(batch.mask, found, at::full({}, kPadding, at::kLong))};
    if (target_.defined()) batch.target = target_.index_select(0, indices);
    return batch;
  }

 private:
  at::Tensor tokens_;   // [total number of tokens] int32, row after row
  at::Tensor offsets_;  // [n + 1] int64; row i has the tokens offsets_[i] to offsets_[i + 1] - 1
  at::Tensor target_;   // [n] float64; undefined without targets
};

}  // namespace

Dataset text_dataset(const TextEncoder& encoder, const Table& table, bool with_target) {
  const TokenRows rows = encoder.tokens_of(table);
  const Schema& schema = encoder.schema();
  at::Tensor target;
  if (with_target) target = target_tensor(table, encoder.target_name(), schema.task);
  return {schema, std::make_shared<TextSource>(at::tensor(rows.tokens, at::kInt),
                                               at::tensor(rows.offsets, at::kLong), std::move(target))};
}

}  // namespace slimbayes
