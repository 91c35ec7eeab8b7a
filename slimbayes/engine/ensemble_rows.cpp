// The regression of `ensemble`: the mean and the variances of an equal mixture of Gaussian answers
// (answers/mixture.cpp).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "slimbayes/engine/row_spec.h"
#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

class EnsembleRowModel : public RowModel {
 public:
  explicit EnsembleRowModel(std::vector<std::shared_ptr<const RowModel>> members)
      : members_(std::move(members)) {
    for (const auto& member : members_) {
      check(member->inputs() == inputs(), "ensemble_row_model", "members of the same inputs", "others",
            "the model file is damaged");
      most_ = std::max(most_, member->scratch());
    }
  }

  int64_t inputs() const override { return members_.front()->inputs(); }
  int64_t scratch() const override { return padded(own()) + padded(most_); }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    const auto members = static_cast<double>(members_.size());
    double* found = part_of(scratch, own());
    int64_t zeroed = 0;
    for (int64_t k = 0; k < 3; ++k) std::fill_n(out + k * ldo, rows, 0.0);
    for (size_t m = 0; m < members_.size(); ++m) {
      double* one = found + 3 * kChunkRows * static_cast<int64_t>(m);
      zeroed += members_[m]->answer(x, rows, one, kChunkRows, scratch);
      for (int64_t k = 0; k < 3; ++k)
        for (int64_t i = 0; i < rows; ++i) out[k * ldo + i] += one[k * kChunkRows + i];
    }
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t i = 0; i < rows; ++i) out[k * ldo + i] /= members;
    for (int64_t i = 0; i < rows; ++i) {
      double apart = 0;
      for (size_t m = 0; m < members_.size(); ++m) {
        const double off = found[3 * kChunkRows * static_cast<int64_t>(m) + i] - out[i];
        apart += off * off;
      }
      out[2 * ldo + i] += apart / members;
    }
    return zeroed;
  }

 private:
  int64_t own() const { return 3 * kChunkRows * std::ssize(members_); }

  std::vector<std::shared_ptr<const RowModel>> members_;
  int64_t most_ = 0;
};

}  // namespace

std::shared_ptr<const RowModel> ensemble_row_model(const EnsembleRows& spec) {
  check(!spec.members.empty(), "ensemble_row_model", "members", "none", "the model file is damaged");
  std::vector<std::shared_ptr<const RowModel>> members;
  for (const RowSpec& member : spec.members) {
    members.push_back(row_model(member));
    if (!members.back() || !members.back()->density().empty()) return nullptr;
  }
  return std::make_shared<EnsembleRowModel>(std::move(members));
}

}  // namespace slimbayes::engine
