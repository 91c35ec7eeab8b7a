#include "slimbayes/engine/packed_head.h"

#include <algorithm>
#include <cmath>

#include "slimbayes/engine/row_model.h"
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

void row_products(const kernels::Kernels& k, const kernels::Rows& at, const double* phi, const Doubles& with,
                  double* out) {
  if (with.data() == nullptr)
    std::fill_n(out, at.rows, 0.0);
  else
    k.row_products64(at, phi, with.data(), out);
}

/// Returns the head, unless a number of it cannot be one of a head.
const LinearHead& checked(const LinearHead& head) {
  check(!(head.largest && head.prior_var), "linear_row_model", "one form of what the features do not cover",
        "two", "the model file is damaged");
  const auto at_least_0 = [](double one) { return std::isfinite(one) && one >= 0; };
  check(std::isfinite(head.constant) && std::isfinite(head.response_constant) && at_least_0(head.noise_var) &&
            at_least_0(head.constant_var) && (!head.largest || at_least_0(*head.largest)) &&
            (!head.prior_var || at_least_0(*head.prior_var)),
        "linear_row_model", "finite numbers, and variances of at least 0", "others",
        "the model file is damaged");
  return head;
}

}  // namespace

PackedHead::PackedHead(const LinearHead& head, int64_t rank)
    : rank_(rank),
      constant_(checked(head).constant),
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

int64_t PackedHead::answer(const double* phi, int64_t rows, double* out, int64_t ldo, double* scratch) const {
  const kernels::Kernels& k = kernels::kernels();
  const kernels::Rows at{rows, rank_, padded(rank_)};
  double *mean = out, *epistemic = out + 2 * ldo;
  std::fill_n(out + ldo, rows, noise_var_);
  std::fill_n(epistemic, rows, 0.0);
  if (outputs_ > 0)
    k.product_squares64({.m = rows,
                         .k = rank_,
                         .n = outputs_,
                         .a = phi,
                         .lda = at.ld,
                         .b = root_.data(),
                         .ldb = padded(outputs_),
                         .bias = root_constant_.data(),
                         .triangle = triangle_},
                        epistemic);
  if (constant_var_ > 0) {
    row_products(k, at, phi, response_, scratch);
    for (int64_t i = 0; i < rows; ++i) {
      const double left = 1 - scratch[i] - response_constant_;
      epistemic[i] += constant_var_ * (left * left);
    }
  }
  if (largest_) {
    k.row_squares64(at, phi, scratch);
    for (int64_t i = 0; i < rows; ++i) epistemic[i] += std::max(*largest_, scratch[i]) - scratch[i];
  }
  int64_t zeroed = 0;
  if (prior_var_) {
    k.row_squares64(at, phi, scratch);
    for (int64_t i = 0; i < rows; ++i)
      epistemic[i] += rounded_row_variance(*prior_var_ - scratch[i], *prior_var_, zeroed);
  }
  row_products(k, at, phi, weights_, mean);
  for (int64_t i = 0; i < rows; ++i) mean[i] += constant_;
  return zeroed;
}

// Stores the transpose of `root` [q, r] as the second factor of a product, and notes its triangle.
void PackedHead::pack_root(const std::vector<double>& root) {
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

}  // namespace slimbayes::engine
