#include "slimbayes/engine/exact_plan.h"

#include <algorithm>
#include <type_traits>

#include "slimbayes/engine/pass.h"

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
  bool operator()(const LstmStep& s) const {
    const Kernels& k = kernels::kernels();
    const int64_t h = s.units, d = s.features, hp = padded(h), gates = s.gates.ld();
    std::fill_n(packed + s.transposed, (hp + padded(d)) * gates, 0.0);
    for (int64_t g = 0; g < 4; ++g) {
      double *to = packed + s.transposed + g * hp, *shift = packed + s.shift + g * hp;
      k.transpose64(values[s.weight_hh] + g * h * h, h, h, h, 1, to, gates);
      k.transpose64(values[s.weight_ih] + g * h * d, d, h, d, 1, to + hp * gates, gates);
      copy_exact(values[s.bias_ih] + g * h, h, 1, shift);
      for (int64_t i = 0; s.bias_hh != DenseStep::kNone && i < h; ++i)
        shift[i] += values[s.bias_hh][g * h + i];
    }
    return true;
  }
  bool operator()(const TokenMeanStep& s) const {
    copy_rows(values[s.vectors], s.tokens, s.out.width, packed + s.packed_vectors);
    if (s.positions != DenseStep::kNone)
      copy_rows(values[s.positions], s.in.width, s.out.width, packed + s.packed_positions);
    return true;
  }
  bool operator()(const ActivationStep& s) const {
    using enum ActivationStep::Function;
    return s.function == silu || s.function == tanh || s.function == relu;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return std::is_same_v<Other, CopyStep> || std::is_same_v<Other, ForkStep> ||
           std::is_same_v<Other, JoinStep> || std::is_same_v<Other, DropoutStep> ||
           std::is_same_v<Other, ColumnsStep>;
  }

  static void copy_rows(const double* from, int64_t rows, int64_t width, double* to) {
    for (int64_t i = 0; i < rows; ++i) copy_exact(from + i * width, width, 1, to + i * padded(width));
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
  void operator()(const ColumnsStep& s) const {
    for (int64_t i = 0; i < rows; ++i)
      copy_exact(at(s.in) + i * s.in.ld() + s.first, s.out.width, 1, at(s.out) + i * s.out.ld());
  }
  void operator()(const TokenMeanStep& s) const {
    for (int64_t i = 0; i < rows; ++i)
      mean_of_vectors(s, packed, at(s.in) + i * s.in.ld(), at(s.out) + i * s.out.ld());
  }
  void operator()(const LstmStep& s) const {
    const int64_t hp = padded(s.units), gates = s.gates.ld(), ld = s.joined.ld();
    double *joined = at(s.joined), *sums = at(s.gates);
    std::fill_n(joined, rows * ld, 0.0);
    std::fill_n(at(s.cells), rows * s.cells.ld(), 0.0);
    std::fill_n(at(s.out), rows * s.out.ld(), 0.0);
    for (int64_t t = 0; t < s.steps; ++t) {
      for (int64_t i = 0; i < rows; ++i)
        copy_exact(at(s.in) + i * s.in.ld() + t * s.features, s.features, 1, joined + i * ld + hp);
      k.product64({.m = rows,
                   .k = hp + s.features,
                   .n = gates,
                   .a = joined,
                   .lda = ld,
                   .b = packed + s.transposed,
                   .ldb = gates,
                   .c = sums,
                   .ldc = gates,
                   .bias = packed + s.shift});
      run_cells(s);
      for (int64_t i = 0; i < rows; ++i) {
        const double *squashed = at(s.squashed) + i * s.squashed.ld(), *output = sums + i * gates + 3 * hp;
        for (int64_t j = 0; j < s.units; ++j) joined[i * ld + j] = output[j] * squashed[j];
        if (const int64_t kept = t - (s.steps - s.kept); kept >= 0)
          std::copy_n(joined + i * ld, s.units, at(s.out) + i * s.out.ld() + kept * s.units);
      }
    }
  }
  template <class Other>
  void operator()(const Other&) const {}  // a fork, and dropout, which does nothing at prediction

  /// Turns the sums of the gates (input, forget, cell, output) into gates, and moves the cells on a step.
  void run_cells(const LstmStep& s) const {
    const int64_t hp = padded(s.units), gates = s.gates.ld(), ld = s.cells.ld();
    double *all = at(s.gates), *cells = at(s.cells), *squashed = at(s.squashed);
    const auto halve = [&](int64_t i, int64_t gate) {  // sigmoid(x) = (1 + tanh(x / 2)) / 2
      double* x = all + i * gates + gate * hp;
      for (int64_t j = 0; j < hp; ++j) x[j] /= 2;
    };
    const auto raise = [&](int64_t i, int64_t gate) {
      double* x = all + i * gates + gate * hp;
      for (int64_t j = 0; j < hp; ++j) x[j] = (1 + x[j]) / 2;
    };
    constexpr int64_t kSigmoid[] = {0, 1, 3};
    for (int64_t i = 0; i < rows; ++i)
      for (const int64_t gate : kSigmoid) halve(i, gate);
    k.tanh64({rows, gates, gates}, all);
    for (int64_t i = 0; i < rows; ++i) {
      for (const int64_t gate : kSigmoid) raise(i, gate);
      const double *input = all + i * gates, *forget = input + hp, *cell = forget + hp;
      double *of = cells + i * ld, *to = squashed + i * ld;
      for (int64_t j = 0; j < s.units; ++j) to[j] = of[j] = forget[j] * of[j] + input[j] * cell[j];
      std::fill(to + s.units, to + ld, 0.0);
    }
    k.tanh64({rows, s.units, ld}, squashed);
  }
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
