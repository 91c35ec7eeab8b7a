// Functions of whole rows in float64: activations, the layer norm, sums, conversions. Padding stays zero.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/doubles.cpp"
#include <array>
#include <cmath>
#include <limits>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/doubles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

using Half = hn::Rebind<float, Tag64>;  // as many floats as a register has doubles

/// Calls f(j) for the offset of every register of the rows, from the start of x.
template <class F>
HWY_INLINE void OverRegisters(Rows at, F f) {
  const int64_t width = padded(at.width);
  for (int64_t i = 0; i < at.rows; ++i)
    for (int64_t j = i * at.ld; j < i * at.ld + width; j += kLanes64) f(j);
}

/// Returns the sum over a row of f(j, sum), a register for each offset.
template <class F>
HWY_INLINE double RowSum64(int64_t width, F f) {
  std::array<Vec64, kVecs64> sums;
  for (Vec64& one : sums) one = hn::Zero(kTag64);
  for (int64_t j = 0; j < width; j += kPad)
    for (size_t v = 0; v < sums.size(); ++v) sums[v] = f(j + static_cast<int64_t>(v) * kLanes64, sums[v]);
  alignas(64) std::array<double, kPad> all;
  for (size_t v = 0; v < sums.size(); ++v) Store(sums[v], all.data() + static_cast<int64_t>(v) * kLanes64);
  return TotalOf16(all.data());
}

/// x / (1 + exp(-x)).
void Silu64(Rows at, double* x) {
  OverRegisters(at, [x](int64_t j) HWY_ATTR {
    const Vec64 in = Load(x + j);
    Store(hn::Div(in, hn::Add(All64(1), Exp64(hn::Neg(in)))), x + j);
  });
}

/// sign(x) (1 - t) / (1 + t) with t = exp(-2 |x|); near 0, where the difference cancels, Cephes' quotient.
void Tanh64(Rows at, double* x) {
  OverRegisters(at, [x](int64_t j) HWY_ATTR {
    const Vec64 in = Load(x + j), one = All64(1), size = hn::Abs(in), square = hn::Mul(in, in);
    Vec64 p = All64(-9.64399179425052238628E-1);
    p = hn::MulAdd(p, square, All64(-9.92877231001918586564E1));
    p = hn::MulAdd(p, square, All64(-1.61468768441708447952E3));
    Vec64 q = hn::Add(square, All64(1.12811678491632931402E2));
    q = hn::MulAdd(q, square, All64(2.23548839060100448583E3));
    q = hn::MulAdd(q, square, All64(4.84406305325125486048E3));
    const Vec64 near = hn::MulAdd(hn::Mul(in, square), hn::Div(p, q), in);
    const Vec64 t = Exp64(hn::Mul(All64(-2), size));
    const Vec64 far = hn::CopySign(hn::Div(hn::Sub(one, t), hn::Add(one, t)), in);
    Store(hn::IfThenElse(hn::Lt(size, All64(0.625)), near, far), x + j);
  });
}

/// max(x, 0); NaN stays NaN.
void Relu64(Rows at, double* x) {
  OverRegisters(at, [x](int64_t j) HWY_ATTR {
    const Vec64 in = Load(x + j), zero = hn::Zero(kTag64);
    Store(hn::IfThenElse(hn::Lt(in, zero), zero, in), x + j);
  });
}

void Add64(Rows at, double* x, const double* other) {
  OverRegisters(at, [=](int64_t j) HWY_ATTR { Store(hn::Add(Load(x + j), Load(other + j)), x + j); });
}

void ScaleColumns64(Rows at, double* x, const double* scale) {
  const int64_t width = padded(at.width);
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    for (int64_t j = 0; j < width; j += kLanes64) Store(hn::Mul(Load(x + j), Load(scale + j)), x + j);
}

/// x - mean in the `count` first elements of a register, 0 in the others.
HWY_INLINE Vec64 Centred64(Vec64 x, Vec64 mean, int64_t count) {
  const Vec64 centred = hn::Sub(x, mean);
  if (count >= kLanes64) return centred;
  return count <= 0 ? hn::Zero(kTag64)
                    : hn::IfThenElseZero(hn::FirstN(kTag64, static_cast<size_t>(count)), centred);
}

void LayerNorm64(Rows at, const double* x, const double* scale, const double* shift, double* y) {
  constexpr double kEpsilon = 1e-5, kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(at.width);
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld, y += at.ld) {
    const double sum =
        RowSum64(at.width, [&](int64_t j, Vec64 s) HWY_ATTR { return hn::Add(s, Load(x + j)); });
    const Vec64 mean = All64(sum / n);
    const double squares = RowSum64(at.width, [&](int64_t j, Vec64 s) HWY_ATTR {
      const Vec64 c = Centred64(Load(x + j), mean, at.width - j);
      Store(c, y + j);
      return hn::MulAdd(c, c, s);
    });
    const double var = squares / n + kEpsilon;
    const Vec64 inverse = hn::Div(All64(1), hn::Sqrt(All64(std::isfinite(var) ? var : kNaN)));
    for (int64_t j = 0; j < padded(at.width); j += kLanes64)
      Store(hn::MulAdd(hn::Mul(Load(y + j), inverse), Load(scale + j), Load(shift + j)), y + j);
  }
}

void RowSquares64(Rows at, const double* x, double* squares) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    squares[i] = RowSum64(at.width, [&](int64_t j, Vec64 s) HWY_ATTR {
      const Vec64 v = Load(x + j);
      return hn::MulAdd(v, v, s);
    });
}

void RowProducts64(Rows at, const double* x, const double* with, double* out) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    out[i] = RowSum64(
        at.width, [&](int64_t j, Vec64 s) HWY_ATTR { return hn::MulAdd(Load(x + j), Load(with + j), s); });
}

void Widen(Rows at, const float* from, const double* scale, const double* shift, double* to) {
  for (int64_t i = 0; i < at.rows; ++i, from += at.ld, to += at.ld)
    for (int64_t j = 0; j < padded(at.width); j += kLanes64) {
      const Vec64 x = hn::PromoteTo(kTag64, hn::LoadU(Half(), from + j));
      Store(scale == nullptr ? x : hn::MulSub(x, Load(scale + j), Load(shift + j)), to + j);
    }
}

void Narrow(Rows at, const double* from, float* to) {
  for (int64_t i = 0; i < at.rows; ++i, from += at.ld, to += at.ld)
    for (int64_t j = 0; j < padded(at.width); j += kLanes64)
      hn::StoreU(hn::DemoteTo(Half(), Load(from + j)), Half(), to + j);
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
  table.row_products64 = RowProducts64;
  table.silu64 = Silu64;
  table.tanh64 = Tanh64;
  table.relu64 = Relu64;
  table.layer_norm64 = LayerNorm64;
  table.add64 = Add64;
  table.scale_columns64 = ScaleColumns64;
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
