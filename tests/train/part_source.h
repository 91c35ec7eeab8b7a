#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "slimbayes/data/source.h"

namespace slimbayes {

/// The rows of a source, of which this process has a part alone.
class PartSource : public Source {
 public:
  PartSource(std::shared_ptr<const Source> whole, OnDisk disk)
      : whole_(std::move(whole)), disk_(std::move(disk)) {}
  int64_t size() const override { return whole_->size(); }
  std::optional<OnDisk> on_disk() const override { return disk_; }
  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    EXPECT_GE(indices.min().item<int64_t>(), disk_.first());
    EXPECT_LT(indices.max().item<int64_t>(), disk_.end());
    return whole_->rows(indices, context);
  }

 private:
  std::shared_ptr<const Source> whole_;
  OnDisk disk_;
};

}  // namespace slimbayes
