#include "slimbayes/data/device_source.h"

#include <ATen/ATen.h>

#include <functional>
#include <mutex>

#include "slimbayes/core/device.h"

namespace slimbayes {

namespace {

Batch each_tensor(const Batch& batch, const std::function<at::Tensor(const at::Tensor&)>& of) {
  Batch out;
  for (const at::Tensor& input : batch.inputs) out.inputs.push_back(of(input));
  const auto if_there = [&](const at::Tensor& x) { return x.defined() ? of(x) : x; };
  out.target = if_there(batch.target);
  out.mask = if_there(batch.mask);
  out.weight = if_there(batch.weight);
  return out;
}

int64_t bytes_of(const Batch& batch) {
  int64_t sum = 0;
  for (const at::Tensor& input : batch.inputs) sum += static_cast<int64_t>(input.nbytes());
  for (const at::Tensor& x : {batch.target, batch.mask, batch.weight})
    if (x.defined()) sum += static_cast<int64_t>(x.nbytes());
  return sum;
}

/// A source with the rows of another source, on a device.
class DeviceSource : public Source {
 public:
  DeviceSource(std::shared_ptr<const Source> whole, at::Device device)
      : whole_(std::move(whole)), device_(device) {}

  int64_t size() const override { return whole_->size(); }
  at::Device device() const override { return device_; }
  at::Tensor lengths() const override { return whole_->lengths(); }
  at::Tensor weights() const override { return whole_->weights(); }
  bool fixed_rows() const override { return whole_->fixed_rows(); }
  std::optional<OnDisk> on_disk() const override { return whole_->on_disk(); }

  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    if (const Batch* all = resident()) {
      const at::Tensor places = moved(indices);
      return each_tensor(*all, [&](const at::Tensor& x) { return x.index_select(0, places); });
    }
    return each_tensor(whole_->rows(indices, context), [this](const at::Tensor& x) { return moved(x); });
  }

 private:
  /// Copies a tensor of a batch to the device. From page-locked memory CUDA copies while the host goes on.
  at::Tensor moved(const at::Tensor& x) const {
    return device_.is_cuda() ? x.pin_memory().to(device_, /*non_blocking=*/true) : x.to(device_);
  }

  /// Returns all rows on the device, which it moves there at the first call; nullptr where that may not be.
  /// It does not move them through page-locked memory, which libtorch would keep.
  const Batch* resident() const {
    std::call_once(once_, [this] {
      if (!whole_->fixed_rows() || whole_->size() == 0) return;
      const Batch first = whole_->rows(at::zeros({1}, at::kLong), {});
      if (bytes_of(first) > kRowsOnDevice / whole_->size()) return;
      all_ = each_tensor(whole_->rows(at::arange(whole_->size()), {}),
                         [this](const at::Tensor& x) { return x.to(device_); });
    });
    return all_.inputs.empty() ? nullptr : &all_;
  }

  std::shared_ptr<const Source> whole_;
  at::Device device_;
  mutable std::once_flag once_;
  mutable Batch all_;  // on the device; no inputs where batches are moved one by one
};

}  // namespace

Dataset on_device(const Dataset& data, at::Device device) {
  if (!data.source || data.device() == device) return data;
  return {data.schema, std::make_shared<DeviceSource>(data.source, device)};
}

}  // namespace slimbayes
