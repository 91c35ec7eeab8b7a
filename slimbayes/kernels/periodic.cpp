// The cosines of an embedding of single numbers, and their gradients.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/periodic.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr float kTurn = 6.28318530717958647692F;  // 2 pi

/// cos(2 pi t) and sin(2 pi t), within 1.2e-7; NaN where t is not finite. In turns the multiple of a quarter
/// that is subtracted is exact. The polynomials, on an eighth of a turn, are Cephes'.
HWY_INLINE void CosSin(Vec t, Vec& cosine, Vec& sine) {
  const hn::RebindToSigned<Tag> integers;
  const Vec quarters = hn::Round(hn::Mul(All(4), t));
  const Vec r = hn::Mul(All(kTurn), hn::NegMulAdd(All(0.25F), quarters, t)), square = hn::Mul(r, r);
  Vec s = hn::MulAdd(All(-1.9515295891e-4F), square, All(8.3321608736e-3F));
  s = hn::MulAdd(s, square, All(-1.6666654611e-1F));
  s = hn::MulAdd(hn::Mul(s, square), r, r);
  Vec c = hn::MulAdd(All(2.443315711809948e-5F), square, All(-1.388731625493765e-3F));
  c = hn::MulAdd(c, square, All(4.166664568298827e-2F));
  c = hn::MulAdd(hn::Mul(c, square), square, hn::NegMulAdd(All(0.5F), square, All(1)));
  // The quarter turns that remain, 0 to 3: whole turns are subtracted before the conversion to integers.
  const Vec rest = hn::NegMulAdd(All(4), hn::Floor(hn::Mul(All(0.25F), quarters)), quarters);
  const auto q = hn::ConvertTo(integers, rest), one = hn::Set(integers, 1), two = hn::Set(integers, 2);
  const auto odd = hn::RebindMask(kTag, hn::Eq(hn::And(q, one), one));
  const auto of_cosine = hn::ShiftLeft<30>(hn::And(hn::Add(q, one), two));  // the sign bit
  const auto of_sine = hn::ShiftLeft<30>(hn::And(q, two));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(kTag, of_cosine));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(kTag, of_sine));
}

void Forward(const PeriodicRows& at, const float* x, int64_t ldx, const float* shift, float* y, int64_t ldy) {
  const int64_t f = padded(at.frequencies), e = at.out - 1, width = at.columns * at.out;
  for (int64_t i = 0; i < at.rows; ++i, x += ldx, y += ldy) {
    std::fill(y + width, y + padded(width), 0.0F);
    for (int64_t j = 0; j < at.columns; ++j) {
      float *cosine = at.cosine + (i * at.columns + j) * f, *sine = at.sine + (i * at.columns + j) * f;
      const Vec own = All(x[j]);
      for (int64_t k = 0; k < f; k += kLanes) {
        Vec c, s;
        CosSin(hn::MulAdd(Load(at.frequency + j * f + k), own, Load(at.phase + j * f + k)), c, s);
        Store(c, cosine + k);
        Store(s, sine + k);
      }
      for (int64_t o = 0; o < e; ++o) {
        const float* weight = at.weight + (j * e + o) * f;
        PartialSums sums;
        for (int64_t k = 0; k < f; k += kPad)
          for (int64_t v = 0; v < kVecs; ++v)
            sums.part[v] =
                hn::MulAdd(Load(weight + k + v * kLanes), Load(cosine + k + v * kLanes), sums.part[v]);
        y[j * at.out + o] = sums.total() + shift[j * e + o];
      }
      y[j * at.out + e] = x[j];
    }
  }
}

/// Adds the first numbers of v to those at p.
HWY_INLINE void AddFirst(Vec v, float* p, int64_t count) {
  StoreFirst(hn::Add(LoadFirst(p, count), v), p, count);
}

void Backward(const PeriodicRows& at, const float* x, int64_t ldx, const float* g, int64_t ldg,
              const PeriodicGradients& to) {
  const int64_t f = padded(at.frequencies), e = at.out - 1, stride = at.columns * f;
  for (int64_t j = 0; j < at.columns; ++j) {
    const float* own = g + j * at.out;
    for (int64_t o = 0; to.shift != nullptr && o < e; ++o)
      for (int64_t i = 0; i < at.rows; ++i) to.shift[j * e + o] += own[i * ldg + o];
    for (int64_t k = 0; k < at.frequencies; k += kLanes) {
      const int64_t left = at.frequencies - k;
      const float *cosine = at.cosine + j * f + k, *sine = at.sine + j * f + k,
                  *weight = at.weight + j * e * f + k;
      for (int64_t o = 0; to.weight != nullptr && o < e; ++o) {
        Vec sum = hn::Zero(kTag);
        for (int64_t i = 0; i < at.rows; ++i)
          sum = hn::MulAdd(All(own[i * ldg + o]), Load(cosine + i * stride), sum);
        AddFirst(sum, to.weight + (j * e + o) * at.frequencies + k, left);
      }
      Vec phase = hn::Zero(kTag), frequency = hn::Zero(kTag);
      for (int64_t i = 0; i < at.rows; ++i) {
        Vec of_cosine = hn::Zero(kTag);
        for (int64_t o = 0; o < e; ++o)
          of_cosine = hn::MulAdd(All(own[i * ldg + o]), Load(weight + o * f), of_cosine);
        const Vec of_angle = hn::Neg(hn::Mul(of_cosine, Load(sine + i * stride)));
        phase = hn::Add(phase, of_angle);
        frequency = hn::MulAdd(All(x[i * ldx + j]), of_angle, frequency);
      }
      if (to.phase != nullptr) AddFirst(phase, to.phase + j * at.frequencies + k, left);
      if (to.frequency != nullptr)
        AddFirst(hn::Mul(All(kTurn), frequency), to.frequency + j * at.frequencies + k, left);
    }
  }
}

}  // namespace

void FillPeriodic(Kernels& table) {
  table.periodic = Forward;
  table.periodic_backward = Backward;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_periodic(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillPeriodic, target, table); }
}  // namespace slimbayes::kernels
#endif
