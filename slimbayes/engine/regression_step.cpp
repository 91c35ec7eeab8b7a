#include "slimbayes/engine/regression_step.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slimbayes::engine {

using kernels::padded;
using kernels::Rows;
using kernels::Triangle;

RegressionStep::RegressionStep(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels)
    : plan_(std::move(plan)),
      kernels_(kernels),
      rank_(plan_->outputs()),
      ld_(padded(rank_)),
      chunk_floats_(plan_->tape_floats() + kChunkRows * ld_) {
  packed_.reserve(plan_->packed_floats());
  work_.reserve(plan_->work_floats());
  for (Floats* each : {&factor_, &transposed_, &grad_factor_}) each->reserve(rank_ * ld_);
  for (Floats* each : {&mean_, &grad_mean_}) each->reserve(ld_);
}

void RegressionStep::pack_head(const RegressionHead<const float>& head) {
  squares_ = logs_ = 0;
  std::fill_n(mean_.data(), ld_, 0.0F);
  for (int64_t i = 0; i < rank_; ++i) {
    mean_.data()[i] = head.mean[i];
    float* row = factor_.data() + i * ld_;
    std::copy_n(head.lower + i * rank_, i, row);
    row[i] = static_cast<float>(std::exp(static_cast<double>(head.log_diagonal[i])));
    std::fill(row + i + 1, row + ld_, 0.0F);
    squares_ += static_cast<double>(head.mean[i]) * head.mean[i];
    logs_ += head.log_diagonal[i];
  }
  kernels_.transpose(factor_.data(), ld_, rank_, rank_, 1, transposed_.data(), ld_);
  std::vector<float> of_rows(static_cast<size_t>(rank_));
  kernels_.row_squares({rank_, rank_, ld_}, factor_.data(), of_rows.data());
  for (const float each : of_rows) squares_ += each;
}

void RegressionStep::forward(const float* x, int64_t rows, bool squares) {
  const int64_t chunks = (rows + kChunkRows - 1) / kChunkRows;
  tape_.reserve(chunks * chunk_floats_);
  outputs_.resize(static_cast<size_t>(chunks));
  for (std::vector<float>* each :
       {&terms_.var, &terms_.mean, &terms_.square, &terms_.to_factor, &terms_.to_mean, &terms_.to_phi})
    each->resize(static_cast<size_t>(rows));
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t first = c * kChunkRows, count = std::min(kChunkRows, rows - first);
    const int64_t d = plan_->inputs();
    float* phi = plan_->forward(kernels_, packed_.data(), x + first * d, d, count, tape_of(c));
    float* a = tape_of(c) + plan_->tape_floats();
    kernels_.product({.m = count,
                      .k = rank_,
                      .n = rank_,
                      .a = phi,
                      .lda = ld_,
                      .b = factor_.data(),
                      .ldb = ld_,
                      .c = a,
                      .ldc = ld_,
                      .triangle = Triangle::lower});
    const Rows at{count, rank_, ld_};
    kernels_.row_squares(at, a, terms_.var.data() + first);
    kernels_.row_products(at, phi, mean_.data(), terms_.mean.data() + first);
    if (squares) kernels_.row_squares(at, phi, terms_.square.data() + first);
    outputs_[static_cast<size_t>(c)] = phi;
  }
}

RegressionLoss RegressionStep::differentiate(const float* y, int64_t rows, double offset,
                                             const RegressionObjective& objective) {
  const auto n = static_cast<size_t>(rows);
  const double b = static_cast<double>(rows), noise = objective.noise_var;
  const bool focused = objective.predictive && objective.focus > 0;
  double weights = b;
  if (focused) {
    weights = 0;
    for (size_t i = 0; i < n; ++i) weights += std::pow(terms_.var[i] + noise, objective.focus);
  }
  RegressionLoss loss;
  grad_offset_ = 0;
  for (size_t i = 0; i < n; ++i) {
    const double u = terms_.var[i], e = y[i] - (terms_.mean[i] + offset);
    const double v = objective.predictive ? u + noise : noise;
    const double weight = focused ? std::pow(v, objective.focus) * b / weights : 1;
    const double excess = objective.predictive ? e * e / v : (e * e + u) / v;
    const double slope = weight * (1 - excess) / (2 * b * v);  // d/dnoise, and d/du if predictive
    const double to_var = objective.predictive ? slope : 1 / (2 * b * noise), to_mean = -weight * e / (b * v);
    loss.data += weight * 0.5 * (std::log(2 * std::numbers::pi * v) + excess) / b;
    loss.grad_noise_var += slope;
    grad_offset_ += to_mean;
    terms_.to_factor[i] = static_cast<float>(2 * to_var);
    terms_.to_mean[i] = static_cast<float>(to_mean);
  }
  loss.kl = 0.5 * (squares_ - 2 * logs_ - static_cast<double>(rank_));
  loss.total = loss.data + objective.kl_weight * loss.kl;
  if (objective.alpha == 0) return loss;
  const std::vector<float>& square = terms_.square;
  const auto largest = static_cast<size_t>(std::ranges::max_element(square) - square.begin());
  double sum = 0;
  for (const float each : square) sum += each;
  const double spread = square[largest] - sum / b, share = objective.alpha / noise;
  std::ranges::fill(terms_.to_phi, static_cast<float>(-share / b));
  terms_.to_phi[largest] = static_cast<float>(share - share / b);
  loss.total += share * spread / 2;
  loss.grad_noise_var -= share * spread / (2 * noise);
  return loss;
}

void RegressionStep::backward(int64_t rows, const RegressionObjective& objective,
                              std::span<float* const> gradients) {
  std::fill_n(grad_factor_.data(), rank_ * ld_, 0.0F);
  std::fill_n(grad_mean_.data(), ld_, 0.0F);
  for (int64_t first = 0, c = 0; first < rows; first += kChunkRows, ++c) {
    const int64_t count = std::min(kChunkRows, rows - first);
    const Rows at{count, rank_, ld_};
    const float* phi = outputs_[static_cast<size_t>(c)];
    float *a = tape_of(c) + plan_->tape_floats(), *g = work_.data();
    const float* to_mean = terms_.to_mean.data() + first;
    kernels_.scale_rows(at, a, terms_.to_factor.data() + first);
    kernels_.transposed_product({.m = count,
                                 .k = rank_,
                                 .n = rank_,
                                 .a = phi,
                                 .lda = ld_,
                                 .b = a,
                                 .ldb = ld_,
                                 .c = grad_factor_.data(),
                                 .ldc = ld_,
                                 .triangle = Triangle::lower});
    kernels_.transposed_product({.m = count,
                                 .k = 1,
                                 .n = rank_,
                                 .a = to_mean,
                                 .lda = 1,
                                 .b = phi,
                                 .ldb = ld_,
                                 .c = grad_mean_.data(),
                                 .ldc = ld_});
    kernels_.product({.m = count,
                      .k = rank_,
                      .n = rank_,
                      .a = a,
                      .lda = ld_,
                      .b = transposed_.data(),
                      .ldb = ld_,
                      .c = g,
                      .ldc = ld_,
                      .triangle = Triangle::upper});
    kernels_.add_outer(at, g, to_mean, mean_.data());
    if (objective.alpha != 0) kernels_.add_scaled_rows(at, g, terms_.to_phi.data() + first, phi);
    plan_->backward(kernels_, packed_.data(), count, tape_of(c), g, gradients);
  }
}

void RegressionStep::finish_head(const RegressionHead<const float>& head,
                                 const RegressionObjective& objective,
                                 const RegressionHead<float>& gradients) {
  const auto weight = static_cast<float>(objective.kl_weight);
  for (int64_t i = 0; i < rank_; ++i) {
    const float *grad = grad_factor_.data() + i * ld_, *factor = factor_.data() + i * ld_;
    float* lower = gradients.lower + i * rank_;
    for (int64_t j = 0; j < i; ++j) lower[j] += grad[j] + weight * factor[j];
    gradients.log_diagonal[i] += (grad[i] + weight * factor[i]) * factor[i] - weight;
    gradients.mean[i] += grad_mean_.data()[i] + weight * head.mean[i];
  }
  *gradients.offset += static_cast<float>(grad_offset_);
}

RegressionLoss RegressionStep::run(std::span<const float* const> values,
                                   const RegressionHead<const float>& head, const float* x, const float* y,
                                   int64_t rows, const RegressionObjective& objective,
                                   std::span<float* const> gradients,
                                   const RegressionHead<float>& head_gradients) {
  plan_->pack(kernels_, values, packed_.data());
  pack_head(head);
  forward(x, rows, objective.alpha != 0);
  const RegressionLoss loss = differentiate(y, rows, *head.offset, objective);
  backward(rows, objective, gradients);
  finish_head(head, objective, head_gradients);
  return loss;
}

}  // namespace slimbayes::engine
