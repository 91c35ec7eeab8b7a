#include "slimbayes/data/source.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

void check_indices(const at::Tensor& indices, const char* function) {
  check_shape(indices, {-1}, function, "indices");
  check(indices.scalar_type() == at::kLong, function, "indices of type int64",
        at::toString(indices.scalar_type()));
}

}  // namespace

TensorSource::TensorSource(Batch all) : all_(std::move(all)) {
  check(!all_.inputs.empty(), "TensorSource", "at least one input", "none");
  const int64_t n = all_.inputs[0].size(0);
  const auto check_rows = [n](const at::Tensor& x, const char* name) {
    check(x.size(0) == n, "TensorSource", fmt::format("{} rows in {}", n, name),
          fmt::format("{}", x.size(0)));
  };
  for (const at::Tensor& input : all_.inputs) check_rows(input, "each input");
  if (all_.target.defined()) check_rows(all_.target, "the target");
  if (all_.mask.defined()) check_rows(all_.mask, "the mask");
}

int64_t TensorSource::size() const { return all_.inputs[0].size(0); }

Batch TensorSource::rows(const at::Tensor& indices, const RowContext&) const {
  check_indices(indices, "TensorSource::rows");
  Batch batch;
  for (const at::Tensor& input : all_.inputs) batch.inputs.push_back(input.index_select(0, indices));
  if (all_.target.defined()) batch.target = all_.target.index_select(0, indices);
  if (all_.mask.defined()) batch.mask = all_.mask.index_select(0, indices);
  return batch;
}

SubsetSource::SubsetSource(std::shared_ptr<const Source> whole, at::Tensor indices)
    : whole_(std::move(whole)), indices_(std::move(indices)) {
  check_indices(indices_, "SubsetSource");
  const bool inside = indices_.numel() == 0 || (indices_.min().item<int64_t>() >= 0 &&
                                                indices_.max().item<int64_t>() < whole_->size());
  check(inside, "SubsetSource", fmt::format("indices from 0 to below {}", whole_->size()), "others");
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

}  // namespace slimbayes
