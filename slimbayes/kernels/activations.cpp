// Activation functions of whole rows with their derivatives. Padding stays zero: every function here maps 0
// to 0, and the derivative there multiplies a gradient that is zero.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/activations.cpp"
#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

/// x s with e = exp(-x) and s = 1 / (1 + e). The derivative is s + x s (1 - s), where 1 - s = e s, which does
/// not cancel.
struct Silu {
  HWY_INLINE void operator()(float* x, float* slope) const {
    const Vec in = Load(x), one = All(1);
    const Vec e = Exp(hn::Neg(in)), s = hn::Div(one, hn::Add(one, e)), y = hn::Mul(in, s);
    Store(y, x);
    Store(hn::MulAdd(y, hn::Mul(e, s), s), slope);
  }
};

struct HyperbolicTangent {
  HWY_INLINE void operator()(float* x, float* slope) const {
    const Vec y = Tanh(Load(x));
    Store(y, x);
    Store(hn::NegMulAdd(y, y, All(1)), slope);
  }
};

/// max(x, 0); NaN stays NaN. The derivative at 0 is 0.
struct Relu {
  HWY_INLINE void operator()(float* x, float* slope) const {
    const Vec in = Load(x), zero = hn::Zero(kTag);
    Store(hn::IfThenElse(hn::Lt(in, zero), zero, in), x);
    Store(hn::IfThenElseZero(hn::Gt(in, zero), All(1)), slope);
  }
};

/// x n / (n + 2) with e = exp(x) and n = e (e + 2), for tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1).
/// From 20 on the quotient is 1.
struct Mish {
  HWY_INLINE void operator()(float* x, float* slope) const {
    const Vec in = Load(x), two = All(2), inside = hn::Min(in, All(20)), e = Exp(inside);
    const Vec n = hn::Mul(e, hn::Add(e, two)), below = hn::Add(n, two), t = hn::Div(n, below);
    const Vec root = hn::Div(two, below);  // the derivative of t is e (1 + e) root^2
    Store(hn::Mul(in, t), x);
    Store(hn::MulAdd(hn::Mul(inside, hn::Mul(hn::MulAdd(e, e, e), root)), root, t), slope);
  }
};

/// 3 u / r with u = x / 3 and r = sqrt(1 + u^2); the derivative is 1 / r^3. NaN stays NaN. The square of u
/// beyond 1e9 would overflow, and the result is 3 from there on.
struct SmoothClip {
  HWY_INLINE void operator()(float* x, float* slope) const {
    const Vec in = Load(x), one = All(1);
    const Vec u = hn::Min(hn::Max(hn::Mul(in, All(1.0F / 3)), All(-1e9F)), All(1e9F));
    const Vec r = hn::Sqrt(hn::MulAdd(u, u, one)), inverse = hn::Div(one, r);
    Store(hn::IfThenElse(hn::IsNaN(in), in, hn::Mul(All(3), hn::Div(u, r))), x);
    Store(hn::Mul(inverse, hn::Mul(inverse, inverse)), slope);
  }
};

template <class F>
void Activate(Rows at, float* x, float* slope) {
  const int64_t width = padded(at.width);
  for (int64_t i = 0; i < at.rows; ++i)
    for (int64_t j = i * at.ld; j < i * at.ld + width; j += kLanes) F()(x + j, slope + j);
}

void Multiply(Rows at, float* x, const float* other) {
  const int64_t width = padded(at.width);
  for (int64_t i = 0; i < at.rows; ++i)
    for (int64_t j = i * at.ld; j < i * at.ld + width; j += kLanes)
      Store(hn::Mul(Load(x + j), Load(other + j)), x + j);
}

}  // namespace

void FillActivations(Kernels& table) {
  table.silu = Activate<Silu>;
  table.tanh = Activate<HyperbolicTangent>;
  table.relu = Activate<Relu>;
  table.mish = Activate<Mish>;
  table.smooth_clip = Activate<SmoothClip>;
  table.multiply = Multiply;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_activations(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillActivations, target, table); }
}  // namespace slimbayes::kernels
#endif
