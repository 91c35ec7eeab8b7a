#include "slimbayes/engine/kernel_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "slimbayes/engine/cholesky.h"
#include "slimbayes/kernels/kernels.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

class KernelRowModel : public RowModel {
 public:
  KernelRowModel(std::shared_ptr<const Features> features, const KernelRows& spec)
      : features_(std::move(features)),
        rank_(features_->rank()),
        n_(std::ssize(spec.alpha)),
        amplitude_(spec.amplitude),
        noise_var_(spec.noise_var),
        offset_(spec.offset),
        sum_(std::accumulate(spec.ones.begin(), spec.ones.end(), 0.0)),
        lengthscale_(spec.lengthscale),
        rows_(rank_ * padded(n_)),
        alpha_(padded(n_)),
        ones_(padded(n_)) {
    const int64_t ld = padded(n_);
    std::fill_n(rows_.data(), rank_ * ld, 0.0);
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < rank_; ++j)
        rows_.data()[j * ld + i] = spec.rows[static_cast<size_t>(i * rank_ + j)];
    for (const auto& [to, from] : {std::pair{&alpha_, &spec.alpha}, {&ones_, &spec.ones}}) {
      std::fill_n(to->data(), ld, 0.0);
      std::copy(from->begin(), from->end(), to->data());
    }
    factorise(spec);
  }

  /// Whether K is positive definite; else the model is of no use.
  bool factorised() const { return root_.data() != nullptr; }

  int64_t inputs() const override { return features_->inputs(); }
  int64_t scratch() const override {
    return padded(features_->scratch()) + padded(kChunkRows * rank_) + kChunkRows * padded(n_) +
           padded(kChunkRows);
  }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    const kernels::Kernels& k = kernels::kernels();
    const Features::Rows f = features_->run(x, rows, part_of(scratch, features_->scratch()));
    double *u = part_of(scratch, kChunkRows * rank_), *cross = part_of(scratch, kChunkRows * padded(n_)),
           *of_ones = scratch, *mean = out, *epistemic = out + 2 * ldo;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < rank_; ++j)
        u[i * rank_ + j] = f.phi[i * padded(rank_) + j] / lengthscale_[static_cast<size_t>(j)];
    const kernels::Rows at{rows, n_, padded(n_)};
    fill_kernel(rows, u, cross);
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
  /// Writes the kernel of the points u [m, rank] and the training rows to `out` [m, n] with padded rows.
  void fill_kernel(int64_t m, const double* u, double* out) const {
    const int64_t ld = padded(n_);
    kernels::kernels().gaussian_kernel64({.m = m,
                                          .k = rank_,
                                          .n = n_,
                                          .a = u,
                                          .lda = rank_,
                                          .b = rows_.data(),
                                          .ldb = ld,
                                          .c = out,
                                          .ldc = ld},
                                         amplitude_);
  }

  /// Makes root_ = U^-1, where K = U^T U. Behind the last row K is padded with the unit matrix.
  void factorise(const KernelRows& spec) {
    const int64_t ld = padded(n_);
    Doubles kernel(ld * ld);
    std::fill_n(kernel.data(), ld * ld, 0.0);
    fill_kernel(n_, spec.rows.data(), kernel.data());
    for (int64_t i = 0; i < ld; ++i) {
      double* row = kernel.data() + i * ld;
      std::fill(row + (i < n_ ? n_ : 0), row + ld, 0.0);
      const auto at = static_cast<size_t>(i);
      row[i] = i < n_ ? amplitude_ + (spec.diagonals.empty() ? spec.diagonal : spec.diagonals[at]) : 1;
    }
    UpperFactor factor(ld, kernels::kernels());
    if (!factor.factorise(kernel.data())) return;
    root_.reserve(ld * ld);
    Doubles work(UpperFactor::work_doubles(UpperFactor::kInvertRows));
    factor.invert(root_.data(), work.data());
  }

  std::shared_ptr<const Features> features_;
  int64_t rank_, n_;  // r, n
  double amplitude_, noise_var_, offset_, sum_;
  std::vector<double> lengthscale_;
  Doubles rows_;  // u^T [r, n] padded
  Doubles alpha_, ones_;
  Doubles root_;  // U^-1 [n, n] padded
};

}  // namespace

std::shared_ptr<const RowModel> kernel_row_model(const KernelRows& spec) {
  std::shared_ptr<const Features> features = features_without_sketch(spec.features);
  if (!features) return nullptr;
  const int64_t r = features->rank(), n = std::ssize(spec.alpha);
  check(n > 0 && std::ssize(spec.lengthscale) == r && std::ssize(spec.ones) == n &&
            std::ssize(spec.rows) == n * r && (spec.diagonals.empty() || std::ssize(spec.diagonals) == n),
        "kernel_row_model", "training rows that fit the features", "others", "the model file is damaged");
  const auto positive = [](double one) { return std::isfinite(one) && one > 0; };
  const bool noisy =
      spec.diagonals.empty() ? positive(spec.diagonal) : std::ranges::all_of(spec.diagonals, positive);
  check(positive(spec.amplitude) && noisy && spec.noise_var >= 0 && std::isfinite(spec.noise_var) &&
            std::isfinite(spec.offset) && std::ranges::all_of(spec.lengthscale, positive),
        "kernel_row_model", "positive hyperparameters", "others", "the model file is damaged");
  const auto needed = 4.0 * static_cast<double>(n) * static_cast<double>(n) * sizeof(double);
  if (needed > static_cast<double>(memory_at_hand())) return nullptr;
  auto model = std::make_shared<KernelRowModel>(std::move(features), spec);
  return model->factorised() ? model : nullptr;
}

}  // namespace slimbayes::engine
