#include "slimbayes/data/source.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

void check_indices(const at::Tensor& indices, const char* function) {
  check_shape(indices, {-1}, function, "indices");
  if (indices.scalar_type() != at::kLong)
    refuse(function, "indices of type int64", at::toString(indices.scalar_type()));
}

/// Returns x [b, t] extended to [b, steps] by zeros. A zero is the padding of tokens (kPadding) and means
/// "padding" in a mask.
at::Tensor padded(const at::Tensor& x, int64_t steps) {
  return x.size(1) == steps ? x : at::constant_pad_nd(x, {0, steps - x.size(1)});
}

/// Pads the inputs and masks of two batches of texts to the length of the longer batch. Batches without a
/// mask stay as they are.
void pad_alike(Batch& a, Batch& b) {
  if (!a.mask.defined() || !b.mask.defined()) return;
  const int64_t steps = std::max(a.mask.size(1), b.mask.size(1));
  for (Batch* batch : {&a, &b}) {
    batch->mask = padded(batch->mask, steps);
    for (at::Tensor& input : batch->inputs) input = padded(input, steps);
  }
}

/// Returns the weights of a batch, 1 for each row where it has none.
at::Tensor weight_of(const Batch& batch) {
  const at::Tensor& x = batch.inputs.at(0);
  return batch.weight.defined() ? batch.weight : at::ones({x.size(0)}, doubles_like(x));
}

Batch first_row(const Source& source) { return source.rows(at::zeros({1}, at::kLong), {}); }

}  // namespace

TensorSource::TensorSource(Batch all) : all_(std::move(all)) {
  check(!all_.inputs.empty(), "TensorSource", "at least one input", "none");
  const int64_t n = all_.inputs[0].size(0);
  const auto check_rows = [n](const at::Tensor& x, const char* name) {
    if (x.size(0) != n)
      refuse("TensorSource", fmt::format("{} rows in {}", n, name), fmt::format("{}", x.size(0)));
  };
  for (const at::Tensor& input : all_.inputs) check_rows(input, "each input");
  if (all_.target.defined()) check_rows(all_.target, "the target");
  if (all_.mask.defined()) check_rows(all_.mask, "the mask");
  if (all_.weight.defined()) check_rows(all_.weight, "the weights");
}

int64_t TensorSource::size() const { return all_.inputs[0].size(0); }

Batch TensorSource::rows(const at::Tensor& indices, const RowContext&) const {
  check_indices(indices, "TensorSource::rows");
  Batch batch;
  for (const at::Tensor& input : all_.inputs) batch.inputs.push_back(input.index_select(0, indices));
  if (all_.target.defined()) batch.target = all_.target.index_select(0, indices);
  if (all_.mask.defined()) batch.mask = all_.mask.index_select(0, indices);
  if (all_.weight.defined()) batch.weight = all_.weight.index_select(0, indices);
  return batch;
}

SubsetSource::SubsetSource(std::shared_ptr<const Source> whole, at::Tensor indices)
    : whole_(std::move(whole)), indices_(std::move(indices)) {
  check_indices(indices_, "SubsetSource");
  const bool inside = indices_.numel() == 0 || (indices_.min().item<int64_t>() >= 0 &&
                                                indices_.max().item<int64_t>() < whole_->size());
  if (!inside) refuse("SubsetSource", fmt::format("indices from 0 to below {}", whole_->size()), "others");
}

int64_t SubsetSource::size() const { return indices_.size(0); }

Batch SubsetSource::rows(const at::Tensor& indices, const RowContext& context) const {
  check_indices(indices, "SubsetSource::rows");
  return whole_->rows(indices_.index_select(0, indices), context);
}

at::Tensor SubsetSource::lengths() const {
  const at::Tensor all = whole_->lengths();
  return all.defined() ? all.index_select(0, indices_) : all;
}

at::Tensor SubsetSource::weights() const {
  const at::Tensor all = whole_->weights();
  return all.defined() ? all.index_select(0, indices_) : all;
}

JoinedSource::JoinedSource(std::shared_ptr<const Source> first, std::shared_ptr<const Source> second)
    : first_(std::move(first)),
      second_(std::move(second)),
      weighted_(first_->weights().defined() || second_->weights().defined()) {}

int64_t JoinedSource::size() const { return first_->size() + second_->size(); }

Batch JoinedSource::rows(const at::Tensor& indices, const RowContext& context) const {
  Batch batch = joined_rows(indices, context);
  if (weighted_) batch.weight = weight_of(batch);
  return batch;
}

Batch JoinedSource::joined_rows(const at::Tensor& indices, const RowContext& context) const {
  check_indices(indices, "JoinedSource::rows");
  const int64_t n = first_->size();
  const at::Tensor in_second = indices >= n;
  // Each part has its own stream in every batch, so that the augmentation of a row does not depend on the
  // rest of its batch.
  const RowContext of_first{context.training, context.stream.split("first")},
      of_second{context.training, context.stream.split("second")};
  if (!in_second.any().item<bool>()) return first_->rows(indices, of_first);
  if (in_second.all().item<bool>()) return second_->rows(indices - n, of_second);
  const at::Tensor places = at::cat({at::nonzero(~in_second), at::nonzero(in_second)}).squeeze(1);
  Batch a = first_->rows(indices.masked_select(~in_second), of_first);
  Batch b = second_->rows(indices.masked_select(in_second) - n, of_second);
  pad_alike(a, b);
  const at::Tensor order = on_device(at::argsort(places), device());
  const auto both = [&order](const at::Tensor& x, const at::Tensor& y) {
    return x.defined() && y.defined() ? at::cat({x, y}).index_select(0, order) : at::Tensor();
  };
  Batch batch;
  for (size_t i = 0; i < a.inputs.size(); ++i) batch.inputs.push_back(both(a.inputs[i], b.inputs.at(i)));
  batch.target = both(a.target, b.target);
  batch.mask = both(a.mask, b.mask);
  if (weighted_) batch.weight = both(weight_of(a), weight_of(b));
  return batch;
}

at::Tensor JoinedSource::lengths() const {
  const at::Tensor first = first_->lengths(), second = second_->lengths();
  return first.defined() && second.defined() ? at::cat({first, second}) : at::Tensor();
}

at::Tensor JoinedSource::weights() const {
  if (!weighted_) return {};
  const at::Tensor first = first_->weights(), second = second_->weights();
  return at::cat({first.defined() ? first : at::ones({first_->size()}, at::kDouble),
                  second.defined() ? second : at::ones({second_->size()}, at::kDouble)});
}

bool JoinedSource::fixed_rows() const {
  if (!first_->fixed_rows() || !second_->fixed_rows()) return false;
  if (first_->size() == 0 || second_->size() == 0) return true;
  // A row with a mask, or with a target that the other source lacks, differs where a batch has rows of both.
  const Batch a = first_row(*first_), b = first_row(*second_);
  return !a.mask.defined() && !b.mask.defined() && a.target.defined() == b.target.defined();
}

std::optional<Source::OnDisk> JoinedSource::on_disk() const {
  const std::optional<OnDisk> first = first_->on_disk(), disk = first ? first : second_->on_disk();
  if (!disk) return {};
  internal_check(disk->parts.size() == 2, "JoinedSource", "rows of which every process has a part");
  return OnDisk{disk->block, disk->window, {0, size()}};
}

}  // namespace slimbayes
