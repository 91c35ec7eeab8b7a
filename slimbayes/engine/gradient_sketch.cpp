// The gradient of a row with respect to a dense layer is the outer product delta (s a, t)^T of the gradient
// of the layer's output and its input. Feature j of the layer is <u_j, delta> <v_j, (s a, t)> / sqrt(q) with
// random signs u_j and v_j. The gradient of a layer norm is hashed: each number is added with a random sign
// to a random feature. ntk/gradient_sketch.cpp draws the same signs and computes the same features for
// tensors.
#include "slimbayes/engine/gradient_sketch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>
#include <vector>

#include "slimbayes/density/philox.h"
#include "slimbayes/kernels/kernels.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

/// The random numbers of one layer.
struct LayerSigns {
  Floats left, right;            // dense: [out, q] and [in + 1, q] of +-1 with padded rows
  std::vector<int64_t> feature;  // norm: of each number of its gradient the feature, and the sign
  std::vector<float> sign;
};

/// Calls keep(i, u) for n numbers of a stream, rounded to float32 as the tensors are.
template <class Keep>
void draw(uint64_t key, int64_t n, Keep keep) {
  for (int64_t i = 0; i < n; i += 2) {
    const auto [first, second] = philox::uniforms(key, static_cast<uint64_t>(i / 2));
    keep(i, first);
    if (i + 1 < n) keep(i + 1, second);
  }
}

float sign_of(double u) { return static_cast<float>(u) < 0.5F ? 1.0F : -1.0F; }

void fill_signs(uint64_t key, int64_t rows, int64_t q, Floats& to) {
  to.reserve(rows * padded(q));
  std::fill_n(to.data(), rows * padded(q), 0.0F);
  draw(key, rows * q, [&](int64_t i, double u) { to.data()[i / q * padded(q) + i % q] = sign_of(u); });
}

LayerSigns signs_of(uint64_t key, const DenseStep& s, int64_t q) {
  LayerSigns signs;
  fill_signs(philox::split(key, "left"), s.out.width, q, signs.left);
  fill_signs(philox::split(key, "right"), s.in.width + 1, q, signs.right);
  return signs;
}

LayerSigns signs_of(uint64_t key, const NormStep& s, int64_t q) {
  LayerSigns signs;
  const int64_t n = 2 * s.in.width;  // of the scale, then of the shift
  draw(philox::split(key, "feature"), n, [&](int64_t, double u) {
    signs.feature.push_back(std::min(static_cast<int64_t>(u * static_cast<double>(q)), q - 1));
  });
  draw(philox::split(key, "sign"), n, [&](int64_t, double u) { signs.sign.push_back(sign_of(u)); });
  return signs;
}

/// Returns whether the sketch knows the gradient of the step's parameters, or it has none.
bool is_known(const Step& step) {
  return std::visit(
      [](const auto& s) {
        using S = std::decay_t<decltype(s)>;
        return !(std::is_same_v<S, ScaleStep> || std::is_same_v<S, PeriodicStep> ||
                 std::is_same_v<S, BatchNormStep> || std::is_same_v<S, LstmStep> ||
                 std::is_same_v<S, TokenMeanStep>);
      },
      step);
}

class SketchFeatures : public Features {
 public:
  SketchFeatures(const Plan& plan, std::span<const float* const> values, int64_t q)
      : plan_(plan),
        q_(q),
        last_(std::get<DenseStep>(plan.steps().back())),
        none_(plan.tensors().size(), nullptr) {
    packed_.reserve(plan.packed_floats());
    plan.pack(kernels::kernels(), values, packed_.data());
    const uint64_t key = philox::split(0, "sketch");
    uint64_t layer = 0;
    for (size_t i = 0; i + 1 < plan.steps().size(); ++i) {
      signs_.emplace_back();
      if (const auto* dense = std::get_if<DenseStep>(&plan.steps()[i]))
        signs_.back() = signs_of(philox::split(key, layer++), *dense, q);
      if (const auto* norm = std::get_if<NormStep>(&plan.steps()[i]))
        signs_.back() = signs_of(philox::split(key, layer++), *norm, q);
    }
  }

  int64_t inputs() const override { return plan_.inputs(); }
  int64_t rank() const override { return exact() + q_; }
  int64_t outputs() const override { return last_.out.width; }
  int64_t scratch() const override {
    return doubles_of(tape_floats()) + doubles_of(plan_.work_floats()) + doubles_of(kChunkRows * inputs()) +
           3 * doubles_of(kChunkRows * padded(q_)) + padded(kChunkRows * padded(rank())) +
           padded(kChunkRows * outputs());
  }

  Rows run(const double* x, int64_t rows, double* scratch) const override {
    const kernels::Kernels& k = kernels::kernels();
    float *tape = floats_of(scratch, tape_floats()), *work = floats_of(scratch, plan_.work_floats()),
          *narrow = floats_of(scratch, kChunkRows * inputs()),
          *sum = floats_of(scratch, kChunkRows * padded(q_)),
          *left = floats_of(scratch, kChunkRows * padded(q_)),
          *right = floats_of(scratch, kChunkRows * padded(q_));
    double *phi = part_of(scratch, kChunkRows * padded(rank())), *output = scratch;
    std::transform(x, x + rows * inputs(), narrow, [](double one) { return static_cast<float>(one); });
    plan_.forward(k, packed_.data(), narrow, inputs(), rows, tape, /*keep=*/true);
    const Slot out = last_.out;
    std::fill_n(work, rows * out.ld(), 0.0F);
    for (int64_t i = 0; i < rows; ++i) {
      const float* own = tape + out.offset + i * out.ld();
      std::copy_n(own, out.width, output + i * out.width);
      work[i * out.ld() + (std::max_element(own, own + out.width) - own)] = 1;
    }
    std::fill_n(sum, rows * padded(q_), 0.0F);
    const auto seen = [&](size_t step, const float* gradient) {
      if (step + 1 == plan_.steps().size()) return;
      const LayerSigns& signs = signs_[step];
      if (const auto* dense = std::get_if<DenseStep>(&plan_.steps()[step]))
        add_dense(*dense, signs, rows, tape, gradient, left, right, sum);
      if (const auto* norm = std::get_if<NormStep>(&plan_.steps()[step]))
        add_norm(*norm, signs, rows, tape, gradient, sum);
    };
    plan_.backward(k, packed_.data(), rows, tape, work, none_, std::cref(seen));  // without an allocation
    write(rows, tape, sum, phi);
    return {phi, output};
  }

 private:
  static int64_t doubles_of(int64_t floats) { return padded((floats + 1) / 2); }
  static float* floats_of(double*& scratch, int64_t count) {
    return reinterpret_cast<float*>(part_of(scratch, doubles_of(count)));
  }

  int64_t tape_floats() const { return plan_.tape_floats(/*keep=*/true); }
  int64_t exact() const { return last_.in.width + (last_.bias == DenseStep::kNone ? 0 : 1); }

  /// Adds the features of a dense layer to `sum` [rows, q], padded; `left` and `right` have its size.
  void add_dense(const DenseStep& s, const LayerSigns& signs, int64_t rows, const float* tape,
                 const float* gradient, float* left, float* right, float* sum) const {
    const kernels::Kernels& k = kernels::kernels();
    const int64_t ld = padded(q_);
    const auto multiply = [&](const float* a, const Slot& of, const float* with, float* to) {
      k.product({.m = rows,
                 .k = of.width,
                 .n = q_,
                 .a = a,
                 .lda = of.ld(),
                 .b = with,
                 .ldb = ld,
                 .c = to,
                 .ldc = ld,
                 .bias = nullptr});
    };
    multiply(gradient, s.out, signs.left.data(), left);
    multiply(tape + s.in.offset, s.in, signs.right.data(), right);
    const float weight = std::abs(s.weight_scale), share = 1 / std::sqrt(static_cast<float>(q_)),
                bias = s.bias == DenseStep::kNone ? 0 : std::abs(s.bias_scale);
    const float* of_bias = signs.right.data() + s.in.width * ld;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < q_; ++j)
        sum[i * ld + j] += share * left[i * ld + j] * (weight * right[i * ld + j] + bias * of_bias[j]);
  }

  void add_norm(const NormStep& s, const LayerSigns& signs, int64_t rows, const float* tape,
                const float* gradient, float* sum) const {
    const int64_t w = s.in.width;
    for (int64_t i = 0; i < rows; ++i) {
      const float *delta = gradient + i * s.out.ld(), *unit = tape + s.unit.offset + i * s.unit.ld();
      float* to = sum + i * padded(q_);
      for (int64_t j = 0; j < w; ++j) {
        const auto scale = static_cast<size_t>(j), shift = static_cast<size_t>(w + j);
        to[signs.feature[scale]] += signs.sign[scale] * delta[j] * unit[j];
        to[signs.feature[shift]] += signs.sign[shift] * delta[j];
      }
    }
  }

  /// Writes the features (s h, t, f) of the rows.
  void write(int64_t rows, const float* tape, const float* sum, double* phi) const {
    const int64_t ld = padded(rank()), h = last_.in.width;
    for (int64_t i = 0; i < rows; ++i) {
      double* to = phi + i * ld;
      const float* from = tape + last_.in.offset + i * last_.in.ld();
      for (int64_t j = 0; j < h; ++j) to[j] = last_.weight_scale * from[j];
      if (exact() > h) to[h] = last_.bias_scale;
      std::copy_n(sum + i * padded(q_), q_, to + exact());
      std::fill(to + rank(), to + ld, 0.0);
    }
  }

  Plan plan_;
  int64_t q_;
  DenseStep last_;
  std::vector<float*> none_;       // no gradient of a parameter is asked for
  std::vector<LayerSigns> signs_;  // of each step but the last
  Floats packed_;
};

}  // namespace

std::shared_ptr<const Features> sketch_features(const Plan& plan, std::span<const float* const> values,
                                                int64_t sketch) {
  check(has_sketch(plan), "sketch", "a network of dense layers and layer norms", "another");
  constexpr int64_t kMost = 16384;  // of the option `sketch`; a damaged file may ask for more
  check(sketch > 0 && sketch <= kMost, "sketch", "1 to 16384 features", "another number");
  double numbers = 0;
  for (const Step& step : plan.steps())
    if (const auto* s = std::get_if<DenseStep>(&step))
      numbers += static_cast<double>(s->in.ld() + s->out.ld());
  if (numbers * static_cast<double>(padded(sketch)) * sizeof(float) >
      0.5 * static_cast<double>(memory_at_hand()))
    return nullptr;
  return std::make_shared<SketchFeatures>(plan, values, sketch);
}

bool has_sketch(const Plan& plan) {
  const bool dense = !plan.steps().empty() && std::holds_alternative<DenseStep>(plan.steps().back());
  return dense && plan.trains() && std::ranges::all_of(plan.steps(), is_known);
}

}  // namespace slimbayes::engine
