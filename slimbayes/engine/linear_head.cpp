#include "slimbayes/engine/linear_head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/kernels/kernels.h"
#include "slimbayes/storage/check.h"

namespace slimbayes::engine {

using kernels::padded;
using kernels::Triangle;

namespace {

/// A vector with padding behind it; without memory if it is empty.
Doubles packed(const std::vector<double>& values) {
  Doubles out;
  if (values.empty()) return out;
  const auto n = static_cast<int64_t>(values.size());
  out.reserve(padded(n));
  std::copy(values.begin(), values.end(), out.data());
  std::fill(out.data() + n, out.data() + padded(n), 0.0);
  return out;
}

class LinearRowModel : public RowModel {
 public:
  LinearRowModel(std::shared_ptr<const Features> features, const LinearHead& head)
      : features_(std::move(features)),
        rank_(features_->rank()),
        constant_(head.constant),
        noise_var_(head.noise_var),
        constant_var_(head.constant_var),
        response_constant_(head.response_constant),
        largest_(head.largest),
        prior_var_(head.prior_var),
        weights_(packed(head.weights)),
        root_constant_(packed(head.root_constant)),
        response_(packed(head.response)) {
    const auto fits = [&](const std::vector<double>& v) { return v.empty() || std::ssize(v) == rank_; };
    outputs_ = rank_ > 0 ? std::ssize(head.root) / rank_ : 0;
    check(fits(head.weights) && fits(head.response) && std::ssize(head.root) == outputs_ * rank_ &&
              (head.root_constant.empty() || std::ssize(head.root_constant) == outputs_),
          "linear_row_model", "a head for the features", "one of another size");
    pack_root(head.root);
  }

  int64_t inputs() const override { return features_->inputs(); }
  int64_t scratch() const override { return padded(features_->scratch()) + padded(kChunkRows); }

  int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const override {
    const kernels::Kernels& k = kernels::kernels();
    const Features::Rows f = features_->run(x, rows, part_of(scratch, features_->scratch()));
    const kernels::Rows at{rows, rank_, padded(rank_)};
    double *mean = out, *epistemic = out + 2 * ldo;
    std::fill_n(out + ldo, rows, noise_var_);
    std::fill_n(epistemic, rows, 0.0);
    if (outputs_ > 0)
      k.product_squares64({.m = rows,
                           .k = rank_,
                           .n = outputs_,
                           .a = f.phi,
                           .lda = at.ld,
                           .b = root_.data(),
                           .ldb = padded(outputs_),
                           .bias = root_constant_.data(),
                           .triangle = triangle_},
                          epistemic);
    if (constant_var_ > 0) {
      row_products(k, at, f.phi, response_, scratch);
      for (int64_t i = 0; i < rows; ++i) {
        const double left = 1 - scratch[i] - response_constant_;
        epistemic[i] += constant_var_ * (left * left);
      }
    }
    if (largest_) {
      k.row_squares64(at, f.phi, scratch);
      for (int64_t i = 0; i < rows; ++i) epistemic[i] += std::max(*largest_, scratch[i]) - scratch[i];
    }
    int64_t zeroed = 0;
    if (prior_var_) {
      k.row_squares64(at, f.phi, scratch);
      for (int64_t i = 0; i < rows; ++i)
        epistemic[i] += rounded_row_variance(*prior_var_ - scratch[i], *prior_var_, zeroed);
    }
    row_products(k, at, f.phi, weights_, mean);
    for (int64_t i = 0; i < rows; ++i) mean[i] += constant_;
    if (f.output != nullptr)
      for (int64_t i = 0; i < rows; ++i) mean[i] += f.output[i];
    return zeroed;
  }

 private:
  static void row_products(const kernels::Kernels& k, const kernels::Rows& at, const double* phi,
                           const Doubles& with, double* out) {
    if (with.data() == nullptr)
      std::fill_n(out, at.rows, 0.0);
    else
      k.row_products64(at, phi, with.data(), out);
  }

  /// Stores the transpose of `root` [q, r] as the second factor of a product, and notes its triangle.
  void pack_root(const std::vector<double>& root) {
    const int64_t q = outputs_, ld = padded(q);
    root_.reserve(rank_ * ld);
    std::fill_n(root_.data(), rank_ * ld, 0.0);
    bool upper = q == rank_, lower = q == rank_;
    for (int64_t j = 0; j < q; ++j)
      for (int64_t p = 0; p < rank_; ++p) {
        const double value = root[static_cast<size_t>(j * rank_ + p)];
        root_.data()[p * ld + j] = value;
        if (value != 0 && p > j) upper = false;
        if (value != 0 && p < j) lower = false;
      }
    triangle_ = lower ? Triangle::lower : upper ? Triangle::upper : Triangle::full;
  }

  std::shared_ptr<const Features> features_;
  int64_t rank_, outputs_ = 0;  // r, q
  double constant_, noise_var_, constant_var_, response_constant_;
  std::optional<double> largest_, prior_var_;
  Doubles weights_, root_constant_, response_, root_;
  Triangle triangle_ = Triangle::full;
};

}  // namespace

std::shared_ptr<const RowModel> linear_row_model(std::shared_ptr<const Features> features,
                                                 const LinearHead& head) {
  check(!(head.largest && head.prior_var), "linear_row_model", "one form of what the features do not cover",
        "two", "the model file is damaged");
  const auto at_least_0 = [](double one) { return std::isfinite(one) && one >= 0; };
  check(std::isfinite(head.constant) && std::isfinite(head.response_constant) && at_least_0(head.noise_var) &&
            at_least_0(head.constant_var) && (!head.largest || at_least_0(*head.largest)) &&
            (!head.prior_var || at_least_0(*head.prior_var)),
        "linear_row_model", "finite numbers, and variances of at least 0", "others",
        "the model file is damaged");
  return std::make_shared<LinearRowModel>(std::move(features), head);
}

}  // namespace slimbayes::engine
