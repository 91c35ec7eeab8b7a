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
      chunk_floats_(plan_->tape_floats(/*keep=*/true) + kChunkRows * ld_) {
  reserve();
}

RegressionStep::RegressionStep(std::shared_ptr<const Plan> plan, int64_t rank, Correction correction,
                               const kernels::Kernels& kernels)
    : plan_(std::move(plan)),
      kernels_(kernels),
      inducing_(std::in_place, plan_->outputs(), rank, kernels),
      corrected_(correction == Correction::kernel),
      rank_(rank),
      ld_(padded(rank_)),
      chunk_floats_(plan_->tape_floats(/*keep=*/true) + kChunkRows * ld_ + inducing_->tape_floats()) {
  reserve();
}

void RegressionStep::reserve() {
  packed_.reserve(plan_->packed_floats());
  for (Floats* each : {&factor_, &transposed_}) each->reserve(rank_ * ld_);
  mean_.reserve(ld_);
}

/// Cuts a batch into parts, and makes the memory that it needs.
void RegressionStep::cut(int64_t rows, std::span<float* const> gradients) {
  const std::vector<PartRows> parts = parts_of(rows, kChunkRows);
  int64_t size = 0;
  for (const int64_t each : plan_->sizes()) size += each;
  while (parts_.size() < parts.size()) {
    Part& made = parts_.emplace_back();
    made.work.reserve(plan_->work_floats());
    made.grad_factor.reserve(rank_ * ld_);
    made.grad_mean.reserve(ld_);
    if (parts_.size() > 1) made.gradients.reserve(size);
    if (!inducing_) continue;
    made.grad_phi.reserve(kChunkRows * ld_);
    made.inducing_work = inducing_->work();
    made.inducing_sums = inducing_->sums();
  }
  used_ = parts.size();
  for (size_t p = 0; p < used_; ++p) {
    Part& part = parts_[p];
    part.at = parts[p];
    part.to.assign(gradients.begin(), gradients.end());
    if (p == 0) continue;  // it adds to the caller's gradients
    float* next = part.gradients.data();
    for (size_t i = 0; i < part.to.size(); next += plan_->sizes()[i++]) part.to[i] = next;
  }
  const int64_t chunks = parts.back().chunk + (parts.back().rows + kChunkRows - 1) / kChunkRows;
  tape_.reserve(chunks * chunk_floats_);
  outputs_.resize(static_cast<size_t>(chunks));
  for (std::vector<float>* each :
       {&terms_.var, &terms_.mean, &terms_.square, &terms_.to_factor, &terms_.to_mean, &terms_.to_phi})
    each->resize(static_cast<size_t>(rows));
  if (!inducing_) return;
  terms_.exact_square.resize(static_cast<size_t>(rows));
  terms_.to_correction.resize(static_cast<size_t>(rows));
  inducing_tape_.reserve(chunks * inducing_->tape_doubles());
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

void RegressionStep::forward(Part& part, const float* x, bool squares, DropoutFactors factors) {
  const int64_t d = plan_->inputs();
  for (int64_t done = 0, c = part.at.chunk; done < part.at.rows; done += kChunkRows, ++c) {
    const int64_t first = part.at.first + done, count = std::min(kChunkRows, part.at.rows - done);
    const float* phi = plan_->forward(kernels_, packed_.data(), x + first * d, d, count, tape_of(c),
                                      /*keep=*/true, factors, first);
    if (inducing_) {
      float* features = tape_of(c) + plan_->tape_floats(/*keep=*/true) + kChunkRows * ld_;
      inducing_->forward(phi, count, inducing_tape_of(c), part.inducing_work, features,
                         terms_.exact_square.data() + first);
      phi = features;
    }
    float* a = tape_of(c) + plan_->tape_floats(/*keep=*/true);
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

double RegressionStep::latent_var(size_t row) const {
  return corrected_ ? terms_.var[row] + (inducing_->amplitude() - terms_.exact_square[row]) : terms_.var[row];
}

/// Returns the totals of the batch, as far as the objective depends on them.
BatchTotals RegressionStep::totals_of(int64_t rows, const RegressionObjective& objective) const {
  BatchTotals own{.rows = static_cast<double>(rows)};
  if (objective.is_focused())
    for (size_t i = 0; i < static_cast<size_t>(rows); ++i)
      own.weights += std::pow(latent_var(i) + objective.noise_var, objective.focus);
  if (objective.alpha != 0) own.largest = *std::ranges::max_element(terms_.square);
  return objective.join ? objective.join(own) : own;
}

RegressionLoss RegressionStep::differentiate(const float* y, int64_t rows, double offset,
                                             const RegressionObjective& objective,
                                             const BatchTotals& totals) {
  const auto n = static_cast<size_t>(rows);
  const double b = static_cast<double>(rows), noise = objective.noise_var;
  const bool focused = objective.is_focused();
  RegressionLoss loss;
  grad_offset_ = 0;
  for (size_t i = 0; i < n; ++i) {
    const double u = latent_var(i), e = y[i] - (terms_.mean[i] + offset);
    const double v = objective.predictive ? u + noise : noise;
    const double weight = focused ? std::pow(v, objective.focus) * totals.rows / totals.weights : 1;
    const double excess = objective.predictive ? e * e / v : (e * e + u) / v;
    const double slope = weight * (1 - excess) / (2 * b * v);  // d/dnoise, and d/du if predictive
    const double to_var = objective.predictive ? slope : 1 / (2 * b * noise), to_mean = -weight * e / (b * v);
    loss.data += weight * 0.5 * (std::log(2 * std::numbers::pi * v) + excess) / b;
    loss.grad_noise_var += slope;
    grad_offset_ += to_mean;
    if (corrected_) terms_.to_correction[i] = to_var;
    terms_.to_factor[i] = static_cast<float>(2 * to_var);
    terms_.to_mean[i] = static_cast<float>(to_mean);
  }
  loss.kl = 0.5 * (squares_ - 2 * logs_ - static_cast<double>(rank_));
  loss.total = loss.data + objective.kl_weight * loss.kl;
  if (objective.alpha != 0) regularise(loss, objective, totals);
  return loss;
}

void RegressionStep::regularise(RegressionLoss& loss, const RegressionObjective& objective,
                                const BatchTotals& totals) {
  const std::vector<float>& square = terms_.square;
  const auto largest = static_cast<size_t>(std::ranges::max_element(square) - square.begin());
  const double b = static_cast<double>(square.size()), noise = objective.noise_var;
  double sum = 0;
  for (const float each : square) sum += each;
  const double spread = totals.largest - sum / b, share = objective.alpha / noise;
  const auto least = static_cast<float>(-share / b);
  std::ranges::fill(terms_.to_phi, least);
  terms_.to_phi[largest] = static_cast<float>(share * totals.largest_weight - share / b);
  loss.total += share * spread / 2;
  loss.grad_noise_var -= share * spread / (2 * noise);
}

void RegressionStep::backward(Part& part, const RegressionObjective& objective) {
  std::fill_n(part.grad_factor.data(), rank_ * ld_, 0.0F);
  std::fill_n(part.grad_mean.data(), ld_, 0.0F);
  if (inducing_) inducing_->clear(part.inducing_sums);
  for (size_t i = 0; &part != parts_.data() && i < part.to.size(); ++i)
    std::fill_n(part.to[i], plan_->sizes()[i], 0.0F);
  float* work = part.work.data();
  for (int64_t done = 0, c = part.at.chunk; done < part.at.rows; done += kChunkRows, ++c) {
    const int64_t first = part.at.first + done, count = std::min(kChunkRows, part.at.rows - done);
    const Rows at{count, rank_, ld_};
    const float* phi = outputs_[static_cast<size_t>(c)];
    float *a = tape_of(c) + plan_->tape_floats(/*keep=*/true), *g = inducing_ ? part.grad_phi.data() : work;
    const float* to_mean = terms_.to_mean.data() + first;
    kernels_.scale_rows(at, a, terms_.to_factor.data() + first);
    kernels_.transposed_product({.m = count,
                                 .k = rank_,
                                 .n = rank_,
                                 .a = phi,
                                 .lda = ld_,
                                 .b = a,
                                 .ldb = ld_,
                                 .c = part.grad_factor.data(),
                                 .ldc = ld_,
                                 .triangle = Triangle::lower});
    kernels_.transposed_product({.m = count,
                                 .k = 1,
                                 .n = rank_,
                                 .a = to_mean,
                                 .lda = 1,
                                 .b = phi,
                                 .ldb = ld_,
                                 .c = part.grad_mean.data(),
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
    const bool network = !part.to.empty();
    if (inducing_)
      inducing_->backward(count, inducing_tape_of(c), g,
                          corrected_ ? terms_.to_correction.data() + first : nullptr, part.inducing_work,
                          part.inducing_sums, network ? work : nullptr);
    if (network) plan_->backward(kernels_, packed_.data(), count, tape_of(c), work, part.to);
  }
}

/// Adds what the other parts have to the first one, in their order.
void RegressionStep::add_parts() {
  const auto add = [](float* sum, const float* more, int64_t n) {
    for (int64_t i = 0; i < n; ++i) sum[i] += more[i];
  };
  Part& sum = parts_.front();
  for (const Part& part : std::span(parts_).subspan(1, used_ - 1)) {
    add(sum.grad_factor.data(), part.grad_factor.data(), rank_ * ld_);
    add(sum.grad_mean.data(), part.grad_mean.data(), ld_);
    for (size_t i = 0; i < sum.to.size(); ++i) add(sum.to[i], part.to[i], plan_->sizes()[i]);
    if (inducing_) inducing_->add(sum.inducing_sums, part.inducing_sums);
  }
}

void RegressionStep::finish_head(const RegressionHead<const float>& head,
                                 const RegressionObjective& objective,
                                 const RegressionHead<float>& gradients) {
  const auto weight = static_cast<float>(objective.kl_weight);
  Part& sum = parts_.front();
  for (int64_t i = 0; i < rank_; ++i) {
    const float *grad = sum.grad_factor.data() + i * ld_, *factor = factor_.data() + i * ld_;
    float* lower = gradients.lower + i * rank_;
    for (int64_t j = 0; j < i; ++j) lower[j] += grad[j] + weight * factor[j];
    gradients.log_diagonal[i] += (grad[i] + weight * factor[i]) * factor[i] - weight;
    gradients.mean[i] += sum.grad_mean.data()[i] + weight * head.mean[i];
  }
  *gradients.offset += static_cast<float>(grad_offset_);
  if (inducing_) inducing_->finish(sum.inducing_sums, gradients.inducing);
}

std::optional<RegressionLoss> RegressionStep::run(
    std::span<const float* const> values, const RegressionHead<const float>& head, const float* x,
    const float* y, int64_t rows, const RegressionObjective& objective, std::span<float* const> gradients,
    const RegressionHead<float>& head_gradients, DropoutFactors factors, const Parallel& parallel) {
  if (inducing_ && !inducing_->prepare(head.inducing)) return std::nullopt;
  plan_->pack(kernels_, values, packed_.data());
  pack_head(head);
  cut(rows, gradients);
  const auto over = [&](auto job) {
    over_parts(static_cast<int64_t>(used_), parallel,
               [&](int64_t p) { job(parts_[static_cast<size_t>(p)]); });
  };
  over([&](Part& part) { forward(part, x, objective.alpha != 0, factors); });
  const RegressionLoss loss = differentiate(y, rows, *head.offset, objective, totals_of(rows, objective));
  over([&](Part& part) { backward(part, objective); });
  add_parts();
  finish_head(head, objective, head_gradients);
  return loss;
}

}  // namespace slimbayes::engine
