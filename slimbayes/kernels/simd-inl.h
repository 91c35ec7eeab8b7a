// Types and functions of one target for the sources of this room. Highway compiles it once for each target:
// its include guard is toggled, so that every target gets its own copy.
#if defined(SLIMBAYES_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SLIMBAYES_KERNELS_SIMD_INL_H_
#undef SLIMBAYES_KERNELS_SIMD_INL_H_
#else
#define SLIMBAYES_KERNELS_SIMD_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "slimbayes/kernels/kernels.h"
#include "slimbayes/kernels/targets.h"
// after targets.h, which chooses the targets
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Number>
using TagOf = hn::ScalableTag<Number>;
template <class Number>
using VecOf = hn::Vec<TagOf<Number>>;
template <class Number>
constexpr int64_t kLanesOf = HWY_MAX_BYTES / static_cast<int64_t>(sizeof(Number));

using Tag = TagOf<float>;
using Vec = VecOf<float>;

constexpr Tag kTag;
constexpr int64_t kLanes = kLanesOf<float>;
constexpr int64_t kVecs = kPad / kLanes;  // registers in one group of kPad floats

using Tag64 = TagOf<double>;
using Vec64 = VecOf<double>;

constexpr Tag64 kTag64;
constexpr int64_t kLanes64 = kLanesOf<double>;
constexpr int64_t kVecs64 = kPad / kLanes64;  // registers in one group of kPad doubles

HWY_INLINE Vec Load(const float* p) { return hn::LoadU(kTag, p); }
HWY_INLINE void Store(Vec v, float* p) { hn::StoreU(v, kTag, p); }
HWY_INLINE Vec All(float x) { return hn::Set(kTag, x); }
HWY_INLINE Vec64 Load(const double* p) { return hn::LoadU(kTag64, p); }
HWY_INLINE void Store(Vec64 v, double* p) { hn::StoreU(v, kTag64, p); }
HWY_INLINE Vec64 All64(double x) { return hn::Set(kTag64, x); }

/// Loads the first `count` numbers, the others are zero. 0 < count.
template <class Number>
HWY_INLINE VecOf<Number> LoadFirst(const Number* p, int64_t count) {
  constexpr int64_t lanes = kLanesOf<Number>;
  if (count >= lanes) return Load(p);
  alignas(64) Number part[lanes] = {};
  std::memcpy(part, p, static_cast<size_t>(count) * sizeof(Number));
  return Load(part);
}

/// Stores the first `count` elements of v. 0 < count.
template <class Number>
HWY_INLINE void StoreFirst(VecOf<Number> v, Number* p, int64_t count) {
  constexpr int64_t lanes = kLanesOf<Number>;
  if (count >= lanes) return Store(v, p);
  alignas(64) Number part[lanes];
  Store(v, part);
  std::memcpy(p, part, static_cast<size_t>(count) * sizeof(Number));
}

/// The sums of 16 interleaved parts of a row, whatever the width of a register.
struct PartialSums {
  Vec part[kVecs];

  HWY_INLINE PartialSums() {
    for (Vec& each : part) each = hn::Zero(kTag);
  }

  /// Adds the parts: i + 8 to i, i + 4 to i, i + 2 to i, 1 to 0.
  HWY_INLINE float total() const {
    alignas(64) float all[kPad];
    for (int64_t i = 0; i < kVecs; ++i) Store(part[i], all + i * kLanes);
    const hn::FixedTag<float, 4> four;
    const auto low = hn::Add(hn::LoadU(four, all), hn::LoadU(four, all + 8));
    const auto high = hn::Add(hn::LoadU(four, all + 4), hn::LoadU(four, all + 12));
    hn::StoreU(hn::Add(low, high), four, all);
    return (all[0] + all[2]) + (all[1] + all[3]);
  }
};

/// exp, within 2 units in the last place between -87 and `most` <= 88, constant beyond; NaN stays NaN. x = n
/// log 2 + r, exp x = 2^n exp r, with a polynomial for exp r on |r| <= log(2) / 2.
HWY_INLINE Vec Exp(Vec x, float most = 88) {
  const Vec inside = hn::Min(hn::Max(x, All(-87.0F)), All(most));
  const Vec n = hn::Round(hn::Mul(inside, All(1.44269504088896341F)));
  Vec r = hn::NegMulAdd(n, All(0.693359375F), inside);  // log 2 in two parts, the first with few digits
  r = hn::NegMulAdd(n, All(-2.12194440e-4F), r);
  Vec p = All(1.9875691500e-4F);
  p = hn::MulAdd(p, r, All(1.3981999507e-3F));
  p = hn::MulAdd(p, r, All(8.3334519073e-3F));
  p = hn::MulAdd(p, r, All(4.1665795894e-2F));
  p = hn::MulAdd(p, r, All(1.6666665459e-1F));
  p = hn::MulAdd(p, r, All(5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), All(1));
  // 1.5 * 2^23 + 127 + n has the exponent of 2^n, 127 + n, in its lowest bits
  const auto power = hn::ShiftLeft<23>(hn::BitCast(hn::RebindToSigned<Tag>(), hn::Add(n, All(12583039.0F))));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(p, hn::BitCast(kTag, power)));
}

/// tanh x, given the quotient (1 - t) / (1 + t) with t = exp(-2 |x|), which is its size. Near 0, where the
/// difference cancels, a polynomial.
HWY_INLINE Vec TanhFrom(Vec x, Vec quotient) {
  const Vec square = hn::Mul(x, x);
  Vec p = All(-5.70498872745e-3F);
  p = hn::MulAdd(p, square, All(2.06390887954e-2F));
  p = hn::MulAdd(p, square, All(-5.37397155531e-2F));
  p = hn::MulAdd(p, square, All(1.33314422036e-1F));
  p = hn::MulAdd(p, square, All(-3.33332819422e-1F));
  const Vec near = hn::MulAdd(hn::Mul(p, square), x, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), All(0.625F)), near, hn::CopySign(quotient, x));
}

HWY_INLINE Vec Tanh(Vec x) {
  const Vec one = All(1), t = Exp(hn::Mul(All(-2), hn::Abs(x)));
  return TanhFrom(x, hn::Div(hn::Sub(one, t), hn::Add(one, t)));
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#endif
