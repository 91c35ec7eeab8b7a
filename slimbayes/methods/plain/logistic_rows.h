#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/method/laplace_posterior.h"
#include "slimbayes/method/rank_rows.h"

namespace slimbayes {

/// What turns rows into the features and features into the logits of a logistic regression. Its coefficients
/// V [k, d + 1] have the prior N(0, I): the features carry the prior sds. The logits of K classes are
/// phi V^T C^T for k = K - 1 contrasts. Softmax does not change if a number is added to all logits, so that
/// nothing is lost; two classes have one logit, the difference, which is that of the second class.
struct LogisticDesign {
  at::Tensor centre;     // [d] the mean of the columns
  at::Tensor contrasts;  // C [K, k]
  double prior_sd = 1;   // of the weight of a column

  /// Returns phi = ((x - centre) prior_sd, intercept sd) of rows of any shape, in float64.
  /// [b, ...] -> [b, d + 1]
  at::Tensor features(const at::Tensor& x) const;
};

/// Returns C [K, K - 1]: orthonormal columns that sum to 0, and (-1/2, 1/2) for two classes.
at::Tensor class_contrasts(int64_t classes);

/// Returns C^T (diag p - p p^T) C of each row. p [b, K], contrasts [K, k]. [b, k, k]
at::Tensor contrast_curvatures(const at::Tensor& p, const at::Tensor& contrasts);

/// The penalised negative log likelihood of some coefficients, with its derivatives.
struct LogisticLoss {
  double value = 0;     // -sum_i weight_i log P(y_i) + |V|^2 / 2
  at::Tensor gradient;  // [k, d + 1]
  GaussNewton matrix;   // the Hessian of the first term, in contrasts; the full one or its Kronecker factors
  // Without the full Hessian: where the loss is, and [b, K] of each batch, which rows on disk do not keep.
  at::Tensor coefficients;
  std::vector<at::Tensor> probabilities;
};

/// The rows of a logistic regression. It reads them batch by batch in each pass.
class LogisticRows {
 public:
  /// `weights` [K] of the rows of each class, undefined: every class counts alike. A row counts by the weight
  /// of its class times its own (Batch::weight). `full`: with the full Hessian, [k (d + 1), k (d + 1)]; else
  /// with an approximation whose factors are [k, k] and [d + 1, d + 1]. The rows must have passed
  /// training_rows. Each of `ranks` passes over its part of rows on disk.
  LogisticRows(const Dataset& rows, const at::Tensor& weights, bool full, const Collective* ranks = nullptr);

  LogisticDesign design(double prior_sd) const { return {centre_, contrasts_, prior_sd}; }
  int64_t size() const { return n_; }
  int64_t columns() const { return centre_.size(0); }       // d
  int64_t contrasts() const { return contrasts_.size(1); }  // k
  bool full() const { return full_; }
  /// Returns the mean variance of the columns; 1 if all are constant.
  double scale() const { return scale_; }

  /// Calls `each` with the rows of a batch [b, d], their classes and weights [b]. For rows in memory.
  void over(const std::function<void(const at::Tensor& x, const at::Tensor& y, const at::Tensor& weight)>&
                each) const;

  /// Returns the loss at the coefficients V [k, d + 1] for this prior sd, in one pass.
  LogisticLoss loss(const at::Tensor& coefficients, double prior_sd) const;

  /// Returns the Hessian of the loss times v [k, d + 1], in one pass; only without the full Hessian. [k, d +
  /// 1]
  at::Tensor hessian_times(const LogisticLoss& at, const at::Tensor& v, double prior_sd) const;

  /// Returns v [k, d + 1] divided by an upper bound of the Hessian at all coefficients (Boehning 1992); only
  /// without the full Hessian. [k, d + 1]
  at::Tensor over_bound(const at::Tensor& v, double prior_sd) const;

  /// Returns the eigenvalues of the factor [d + 1, d + 1] of the Kronecker approximation. [d + 1]
  at::Tensor feature_values(double prior_sd) const;

 private:
  void measure();
  /// Returns whether this process adds the prior to the loss, which the ranks then sum.
  bool adds_prior() const { return rows_.ranks == nullptr || rows_.ranks->rank() == 0; }
  void over_own(const std::function<void(const at::Tensor& x, const at::Tensor& y, const at::Tensor& weight)>&
                    each) const;

  RankRows rows_;
  int64_t n_;  // of all ranks
  bool on_disk_;
  at::Tensor contrasts_, weights_, centre_;
  bool full_;
  double scale_ = 1, total_ = 0;  // the sum of the weights of all rows
  at::Tensor gram_;               // [d, d] of the centred columns, without the full Hessian
  at::Tensor values_, vectors_;   // its spectrum
};

}  // namespace slimbayes
