#include "slimbayes/engine/linear_head.h"

#include <utility>

#include "slimbayes/engine/packed_head.h"
#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

class LinearRowModel : public RowModel {
 public:
  LinearRowModel(std::shared_ptr<const Features> features, const LinearHead& head)
      : features_(std::move(features)), head_(head, features_->rank()) {
    check(features_->outputs() <= 1, "linear_row_model", "a network with one output", "several");
  }

  int64_t inputs() const override { return features_->inputs(); }
  int64_t scratch() const override { return padded(features_->scratch()) + padded(kChunkRows); }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    const Features::Rows f = features_->run(x, rows, part_of(scratch, features_->scratch()));
    const int64_t zeroed = head_.answer(f.phi, rows, out, ldo, scratch);
    if (f.output != nullptr)
      for (int64_t i = 0; i < rows; ++i) out[i] += f.output[i];
    return zeroed;
  }

 private:
  std::shared_ptr<const Features> features_;
  PackedHead head_;
};

}  // namespace

std::shared_ptr<const RowModel> linear_row_model(std::shared_ptr<const Features> features,
                                                 const LinearHead& head) {
  return std::make_shared<LinearRowModel>(std::move(features), head);
}

}  // namespace slimbayes::engine
