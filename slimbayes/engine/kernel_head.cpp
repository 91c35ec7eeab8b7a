#include "slimbayes/engine/kernel_head.h"

#include <algorithm>
#include <numeric>

#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

class KernelRowModel : public RowModel {
 public:
  explicit KernelRowModel(const KernelHead& head)
      : inputs_(head.inputs),
        n_(std::ssize(head.alpha)),
        amplitude_(head.amplitude),
        noise_var_(head.noise_var),
        offset_(head.offset),
        sum_(std::accumulate(head.ones.begin(), head.ones.end(), 0.0)),
        lengthscale_(head.lengthscale),
        rows_(inputs_ * padded(n_)),
        alpha_(padded(n_)),
        ones_(padded(n_)),
        root_(n_ * padded(n_)) {
    const int64_t ld = padded(n_);
    std::fill_n(rows_.data(), inputs_ * ld, 0.0);
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < inputs_; ++j)
        rows_.data()[j * ld + i] = head.rows[static_cast<size_t>(i * inputs_ + j)];
    for (const auto& [to, from] : {std::pair{&alpha_, &head.alpha}, {&ones_, &head.ones}}) {
      std::fill_n(to->data(), ld, 0.0);
      std::copy(from->begin(), from->end(), to->data());
    }
    std::fill_n(root_.data(), n_ * ld, 0.0);
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j <= i; ++j) root_.data()[j * ld + i] = head.root[static_cast<size_t>(i * n_ + j)];
  }

  int64_t inputs() const override { return inputs_; }
  int64_t scratch() const override {
    return padded(kChunkRows * inputs_) + kChunkRows * padded(n_) + padded(kChunkRows);
  }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    const kernels::Kernels& k = kernels::kernels();
    double *u = part_of(scratch, kChunkRows * inputs_), *cross = part_of(scratch, kChunkRows * padded(n_)),
           *of_ones = scratch, *mean = out, *epistemic = out + 2 * ldo;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < inputs_; ++j)
        u[i * inputs_ + j] = x[i * inputs_ + j] / lengthscale_[static_cast<size_t>(j)];
    const kernels::Rows at{rows, n_, padded(n_)};
    k.gaussian_kernel64({.m = rows,
                         .k = inputs_,
                         .n = n_,
                         .a = u,
                         .lda = inputs_,
                         .b = rows_.data(),
                         .ldb = at.ld,
                         .c = cross,
                         .ldc = at.ld},
                        amplitude_);
    k.row_products64(at, cross, alpha_.data(), mean);
    k.row_products64(at, cross, ones_.data(), of_ones);
    k.product_squares64({.m = rows,
                         .k = n_,
                         .n = n_,
                         .a = cross,
                         .lda = at.ld,
                         .b = root_.data(),
                         .ldb = at.ld,
                         .triangle = kernels::Triangle::upper},
                        epistemic);
    int64_t zeroed = 0;
    for (int64_t i = 0; i < rows; ++i) {
      mean[i] += offset_;
      out[ldo + i] = noise_var_;
      const double left = 1 - of_ones[i];
      epistemic[i] = rounded_row_variance(amplitude_ - epistemic[i], amplitude_, zeroed) + left * left / sum_;
    }
    return zeroed;
  }

 private:
  int64_t inputs_, n_;  // d, n
  double amplitude_, noise_var_, offset_, sum_;
  std::vector<double> lengthscale_;
  Doubles rows_;  // u^T [d, n] padded
  Doubles alpha_, ones_, root_;
};

}  // namespace

std::shared_ptr<const RowModel> kernel_row_model(const KernelHead& head) {
  return std::make_shared<KernelRowModel>(head);
}

}  // namespace slimbayes::engine
