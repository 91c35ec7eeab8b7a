// Types and functions of one target in float64, as simd-inl.h has them in float32.
#if defined(SLIMBAYES_KERNELS_EXACT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SLIMBAYES_KERNELS_EXACT_INL_H_
#undef SLIMBAYES_KERNELS_EXACT_INL_H_
#else
#define SLIMBAYES_KERNELS_EXACT_INL_H_
#endif

#include <cstddef>

#include "slimbayes/kernels/exact.h"
#include "slimbayes/kernels/targets.h"
// after targets.h, which chooses the targets
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag64 = hn::ScalableTag<double>;
using Vec64 = hn::Vec<Tag64>;

constexpr Tag64 kTag64;
constexpr int64_t kLanes64 = HWY_MAX_BYTES / static_cast<int64_t>(sizeof(double));
constexpr int64_t kVecs64 = kPad / kLanes64;  // registers in one group of kPad doubles

HWY_INLINE Vec64 Load64(const double* p) { return hn::LoadU(kTag64, p); }
HWY_INLINE void Store64(Vec64 v, double* p) { hn::StoreU(v, kTag64, p); }
HWY_INLINE Vec64 All64(double x) { return hn::Set(kTag64, x); }

/// Adds 16 partial sums: i + 8 to i, i + 4 to i, i + 2 to i, 1 to 0.
HWY_INLINE double TotalOf16(const double* all) {
  double sum[8];
  for (int i = 0; i < 8; ++i) sum[i] = all[i] + all[i + 8];
  for (int i = 0; i < 4; ++i) sum[i] += sum[i + 4];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// exp, within 2 units in the last place between -708 and 709, constant above, 0 below; NaN stays NaN. x = n
/// log 2 + r, and exp r is Cephes' quotient 1 + 2 r P(r^2) / (Q(r^2) - r P(r^2)).
HWY_INLINE Vec64 Exp64(Vec64 x) {
  const hn::RebindToSigned<Tag64> integers;
  const Vec64 magic = All64(6755399441055744.0);  // 1.5 2^52: the last bits of a sum with it are an integer
  const Vec64 inside = hn::Min(hn::Max(x, All64(-708)), All64(709));
  const Vec64 shifted = hn::MulAdd(inside, All64(1.4426950408889634073599), magic);
  const Vec64 n = hn::Sub(shifted, magic);
  Vec64 r = hn::NegMulAdd(n, All64(6.93145751953125E-1), inside);
  r = hn::NegMulAdd(n, All64(1.42860682030941723212E-6), r);
  const Vec64 square = hn::Mul(r, r);
  Vec64 p = All64(1.26177193074810590878E-4);
  p = hn::MulAdd(p, square, All64(3.02994407707441961300E-2));
  p = hn::Mul(hn::MulAdd(p, square, All64(9.99999999999999999910E-1)), r);
  Vec64 q = All64(3.00198505138664455042E-6);
  q = hn::MulAdd(q, square, All64(2.52448340349684104192E-3));
  q = hn::MulAdd(q, square, All64(2.27265548208155028766E-1));
  q = hn::MulAdd(q, square, All64(2.00000000000000000005E0));
  const Vec64 e = hn::MulAdd(All64(2), hn::Div(p, hn::Sub(q, p)), All64(1));
  const auto power = hn::ShiftLeft<52>(hn::Add(hn::BitCast(integers, shifted), hn::Set(integers, 1023)));
  const Vec64 y = hn::Mul(e, hn::BitCast(kTag64, power));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(hn::Lt(x, All64(-708)), y));
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#endif
