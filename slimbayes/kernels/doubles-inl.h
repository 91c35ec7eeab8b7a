// Functions of one target in float64, as simd-inl.h has them in float32.
#if defined(SLIMBAYES_KERNELS_DOUBLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SLIMBAYES_KERNELS_DOUBLES_INL_H_
#undef SLIMBAYES_KERNELS_DOUBLES_INL_H_
#else
#define SLIMBAYES_KERNELS_DOUBLES_INL_H_
#endif

#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {

/// Adds 16 partial sums: i + 8 to i, i + 4 to i, i + 2 to i, 1 to 0.
HWY_INLINE double TotalOf16(const double* all) {
  double sum[8];
  for (int i = 0; i < 8; ++i) sum[i] = all[i] + all[i + 8];
  for (int i = 0; i < 4; ++i) sum[i] += sum[i + 4];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// exp within 2 units in the last place up to 709 and constant above, 0 below -707; NaN stays NaN. x = n log
/// 2 + r, exp x = 2^n exp r with Taylor's polynomial of degree 13 for |r| <= log(2) / 2, whose error is
/// 5e-18.
HWY_INLINE Vec64 Exp64(Vec64 x) {
  const hn::RebindToUnsigned<Tag64> bits;
  const Vec64 shift = All64(0x1.8p52);  // x + shift is rounded to an integer, which its lowest bits hold
  const Vec64 inside = hn::Min(hn::Max(x, All64(-707.0)), All64(709.0));
  const Vec64 shifted = hn::MulAdd(inside, All64(1.4426950408889634), shift), n = hn::Sub(shifted, shift);
  Vec64 r =
      hn::NegMulAdd(n, All64(0x1.62e42feep-1), inside);  // log 2 in two parts, the first with few digits
  r = hn::NegMulAdd(n, All64(0x1.a39ef35793c76p-33), r);
  Vec64 p = All64(1.0 / 6227020800);
  for (const double factorial : {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0,
                                 24.0, 6.0, 2.0, 1.0, 1.0})
    p = hn::MulAdd(p, r, All64(1 / factorial));
  const auto power = hn::ShiftLeft<52>(hn::BitCast(bits, shifted));
  p = hn::BitCast(kTag64, hn::Add(hn::BitCast(bits, p), power));
  p = hn::IfThenElse(hn::Lt(x, All64(-707.0)), hn::Zero(kTag64), p);
  return hn::IfThenElse(hn::IsNaN(x), x, p);
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#endif
