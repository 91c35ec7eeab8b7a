// Functions of rows in float64, for Gram matrices.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/doubles.cpp"
#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

using Tag64 = TagOf<double>;
using Vec64 = VecOf<double>;
using Half = hn::Rebind<float, Tag64>;  // as many floats as a register has doubles

constexpr Tag64 kTag64;
constexpr int64_t kLanes64 = kLanesOf<double>;

void Widen(Rows at, const float* from, const double* scale, const double* shift, double* to) {
  for (int64_t i = 0; i < at.rows; ++i, from += at.ld, to += at.ld)
    for (int64_t j = 0; j < padded(at.width); j += kLanes64) {
      const Vec64 x = hn::PromoteTo(kTag64, hn::LoadU(Half(), from + j));
      Store(hn::MulSub(x, Load(scale + j), Load(shift + j)), to + j);
    }
}

void Narrow(Rows at, const double* from, float* to) {
  for (int64_t i = 0; i < at.rows; ++i, from += at.ld, to += at.ld)
    for (int64_t j = 0; j < padded(at.width); j += kLanes64)
      hn::StoreU(hn::DemoteTo(Half(), Load(from + j)), Half(), to + j);
}

/// The sums of 16 interleaved parts of a row, added in the order of PartialSums::total.
void RowSquares64(Rows at, const double* x, double* squares) {
  constexpr int64_t vecs = kPad / kLanes64;
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld) {
    Vec64 sums[vecs];
    for (Vec64& each : sums) each = hn::Zero(kTag64);
    for (int64_t j = 0; j < at.width; j += kPad)
      for (int64_t v = 0; v < vecs; ++v) {
        const Vec64 one = Load(x + j + v * kLanes64);
        sums[v] = hn::MulAdd(one, one, sums[v]);
      }
    alignas(64) double all[kPad];
    for (int64_t v = 0; v < vecs; ++v) Store(sums[v], all + v * kLanes64);
    for (int64_t half = kPad / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) all[j] += all[j + half];
    squares[i] = all[0];
  }
}

/// exp within 2 units in the last place up to 700, 0 below -707; NaN stays NaN. x = n log 2 + r, exp x = 2^n
/// exp r with Taylor's polynomial of degree 13 for |r| <= log(2) / 2, whose error is 5e-18.
HWY_INLINE Vec64 Exp64(Vec64 x) {
  const hn::RebindToUnsigned<Tag64> bits;
  const Vec64 shift = All64(0x1.8p52);  // x + shift is rounded to an integer, which its lowest bits hold
  const Vec64 inside = hn::Max(x, All64(-707.0));
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

void ExpDifferences64(Rows at, double* x, const double* less, double most) {
  const Vec64 top = All64(most);
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld) {
    const Vec64 own = All64(less[i]);
    for (int64_t j = 0; j < at.width; j += kLanes64) {
      const Vec64 power = hn::Sub(Load(x + j), own);
      Store(Exp64(hn::IfThenElse(hn::Gt(power, top), top, power)), x + j);
    }
    for (int64_t j = at.width; j < padded(at.width); ++j) x[j] = 0;
  }
}

}  // namespace

void FillDoubles(Kernels& table) {
  table.widen = Widen;
  table.narrow = Narrow;
  table.row_squares64 = RowSquares64;
  table.exp_differences64 = ExpDifferences64;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_doubles(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillDoubles, target, table); }
}  // namespace slimbayes::kernels
#endif
