#include "slimbayes/engine/exact_plan.h"

#include <algorithm>
#include <type_traits>

namespace slimbayes::engine {

using kernels::Kernels;
using kernels::padded;

namespace {

void copy_exact(const double* from, int64_t n, double scale, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = scale * from[i];
  std::fill(to + n, to + padded(n), 0.0);
}

/// Packs the parameters of a step. Returns false for a step that is not known here.
struct ExactPacking {
  std::span<const double* const> values;
  double* packed;

  bool operator()(const DenseStep& s) const {
    kernels::kernels().transpose64(values[s.weight], s.in.width, s.out.width, s.in.width, s.weight_scale,
                                   packed + s.transposed, s.out.ld());
    if (s.bias != DenseStep::kNone) copy_exact(values[s.bias], s.out.width, s.bias_scale, packed + s.shift);
    return true;
  }
  bool operator()(const NormStep& s) const {
    copy_exact(values[s.scale], s.in.width, 1, packed + s.packed_scale);
    copy_exact(values[s.shift], s.in.width, 1, packed + s.packed_shift);
    return true;
  }
  bool operator()(const ScaleStep& s) const {
    copy_exact(values[s.scale], s.in.width, 1, packed + s.packed_scale);
    return true;
  }
  bool operator()(const ActivationStep& s) const {
    using enum ActivationStep::Function;
    return s.function == silu || s.function == tanh || s.function == relu;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return std::is_same_v<Other, CopyStep> || std::is_same_v<Other, ForkStep> ||
           std::is_same_v<Other, JoinStep>;
  }
};

/// Computes one step for the rows of a chunk.
struct ExactPass {
  const Kernels& k;
  const double* packed;
  int64_t rows;
  double* tape;

  double* at(const Slot& slot) const { return tape + slot.offset; }

  void operator()(const DenseStep& s) const {
    k.product64({.m = rows,
                 .k = s.in.width,
                 .n = s.out.width,
                 .a = at(s.in),
                 .lda = s.in.ld(),
                 .b = packed + s.transposed,
                 .ldb = s.out.ld(),
                 .c = at(s.out),
                 .ldc = s.out.ld(),
                 .bias = s.bias == DenseStep::kNone ? nullptr : packed + s.shift});
  }
  void operator()(const ActivationStep& s) const {
    using enum ActivationStep::Function;
    const auto run = s.function == silu ? k.silu64 : s.function == tanh ? k.tanh64 : k.relu64;
    run(s.at.of(rows), at(s.at));
  }
  void operator()(const NormStep& s) const {
    k.layer_norm64(s.in.of(rows), at(s.in), packed + s.packed_scale, packed + s.packed_shift, at(s.out));
  }
  void operator()(const CopyStep& s) const { std::copy_n(at(s.in), rows * s.in.ld(), at(s.out)); }
  void operator()(const JoinStep& s) const { k.add64(s.body.of(rows), at(s.body), at(s.shortcut)); }
  void operator()(const ScaleStep& s) const {
    std::copy_n(at(s.in), rows * s.in.ld(), at(s.out));
    k.scale_columns64(s.out.of(rows), at(s.out), packed + s.packed_scale);
  }
  template <class Other>
  void operator()(const Other&) const {}  // a fork
};

}  // namespace

std::shared_ptr<const ExactPlan> ExactPlan::of(const Plan& plan, std::span<const double* const> values) {
  const std::shared_ptr<ExactPlan> exact(new ExactPlan(plan));
  exact->packed_.reserve(plan.packed_floats());
  for (const Step& step : plan.steps())
    if (!std::visit(ExactPacking{values, exact->packed_.data()}, step)) return nullptr;
  return exact;
}

double* ExactPlan::run(const double* x, int64_t rows, double* scratch) const {
  const int64_t d = inputs();
  for (int64_t i = 0; i < rows; ++i) copy_exact(x + i * d, d, 1, scratch + i * padded(d));
  const ExactPass pass{kernels::kernels(), packed_.data(), rows, scratch};
  for (const Step& step : plan_.steps()) std::visit(pass, step);
  return scratch;
}

}  // namespace slimbayes::engine
