// Functions of whole rows in float64: activations, the layer norm, sums. Padding stays zero.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/exact_rows.cpp"
#include <array>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/exact-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

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
  for (size_t v = 0; v < sums.size(); ++v) Store64(sums[v], all.data() + static_cast<int64_t>(v) * kLanes64);
  return TotalOf16(all.data());
}

/// x / (1 + exp(-x)).
void SiluExact(Rows at, double* x) {
  OverRegisters(at, [x](int64_t j) HWY_ATTR {
    const Vec64 in = Load64(x + j);
    Store64(hn::Div(in, hn::Add(All64(1), Exp64(hn::Neg(in)))), x + j);
  });
}

/// sign(x) (1 - t) / (1 + t) with t = exp(-2 |x|); near 0, where the difference cancels, Cephes' quotient.
void TanhExact(Rows at, double* x) {
  OverRegisters(at, [x](int64_t j) HWY_ATTR {
    const Vec64 in = Load64(x + j), one = All64(1), size = hn::Abs(in), square = hn::Mul(in, in);
    Vec64 p = All64(-9.64399179425052238628E-1);
    p = hn::MulAdd(p, square, All64(-9.92877231001918586564E1));
    p = hn::MulAdd(p, square, All64(-1.61468768441708447952E3));
    Vec64 q = hn::Add(square, All64(1.12811678491632931402E2));
    q = hn::MulAdd(q, square, All64(2.23548839060100448583E3));
    q = hn::MulAdd(q, square, All64(4.84406305325125486048E3));
    const Vec64 near = hn::MulAdd(hn::Mul(in, square), hn::Div(p, q), in);
    const Vec64 t = Exp64(hn::Mul(All64(-2), size));
    const Vec64 far = hn::CopySign(hn::Div(hn::Sub(one, t), hn::Add(one, t)), in);
    Store64(hn::IfThenElse(hn::Lt(size, All64(0.625)), near, far), x + j);
  });
}

/// max(x, 0); NaN stays NaN.
void ReluExact(Rows at, double* x) {
  OverRegisters(at, [x](int64_t j) HWY_ATTR {
    const Vec64 in = Load64(x + j), zero = hn::Zero(kTag64);
    Store64(hn::IfThenElse(hn::Lt(in, zero), zero, in), x + j);
  });
}

void AddExact(Rows at, double* x, const double* other) {
  OverRegisters(at, [=](int64_t j) HWY_ATTR { Store64(hn::Add(Load64(x + j), Load64(other + j)), x + j); });
}

void ScaleColumnsExact(Rows at, double* x, const double* scale) {
  const int64_t width = padded(at.width);
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    for (int64_t j = 0; j < width; j += kLanes64) Store64(hn::Mul(Load64(x + j), Load64(scale + j)), x + j);
}

/// x - mean in the `count` first elements of a register, 0 in the others.
HWY_INLINE Vec64 Centred64(Vec64 x, Vec64 mean, int64_t count) {
  const Vec64 centred = hn::Sub(x, mean);
  if (count >= kLanes64) return centred;
  return count <= 0 ? hn::Zero(kTag64)
                    : hn::IfThenElseZero(hn::FirstN(kTag64, static_cast<size_t>(count)), centred);
}

void LayerNormExact(Rows at, const double* x, const double* scale, const double* shift, double* y) {
  constexpr double kEpsilon = 1e-5;
  const auto n = static_cast<double>(at.width);
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld, y += at.ld) {
    const double sum =
        RowSum64(at.width, [&](int64_t j, Vec64 s) HWY_ATTR { return hn::Add(s, Load64(x + j)); });
    const Vec64 mean = All64(sum / n);
    const double squares = RowSum64(at.width, [&](int64_t j, Vec64 s) HWY_ATTR {
      const Vec64 c = Centred64(Load64(x + j), mean, at.width - j);
      Store64(c, y + j);
      return hn::MulAdd(c, c, s);
    });
    const Vec64 inverse = hn::Div(All64(1), hn::Sqrt(All64(squares / n + kEpsilon)));
    for (int64_t j = 0; j < padded(at.width); j += kLanes64)
      Store64(hn::MulAdd(hn::Mul(Load64(y + j), inverse), Load64(scale + j), Load64(shift + j)), y + j);
  }
}

void RowSquaresExact(Rows at, const double* x, double* squares) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    squares[i] = RowSum64(at.width, [&](int64_t j, Vec64 s) HWY_ATTR {
      const Vec64 v = Load64(x + j);
      return hn::MulAdd(v, v, s);
    });
}

void RowProductsExact(Rows at, const double* x, const double* with, double* out) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    out[i] = RowSum64(at.width, [&](int64_t j, Vec64 s)
                                    HWY_ATTR { return hn::MulAdd(Load64(x + j), Load64(with + j), s); });
}

void WidenExact(Rows at, const float* x, double* out) {
  const hn::Rebind<float, Tag64> half;
  OverRegisters(at,
                [&](int64_t j) HWY_ATTR { Store64(hn::PromoteTo(kTag64, hn::LoadU(half, x + j)), out + j); });
}

}  // namespace

void FillExactRows(ExactKernels& table) {
  table.silu = SiluExact;
  table.tanh = TanhExact;
  table.relu = ReluExact;
  table.layer_norm = LayerNormExact;
  table.add = AddExact;
  table.scale_columns = ScaleColumnsExact;
  table.row_squares = RowSquaresExact;
  table.row_products = RowProductsExact;
  table.widen = WidenExact;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_exact_rows(int64_t target, ExactKernels& table) {
  SLIMBAYES_FILL_OF(FillExactRows, ExactKernels, target, table);
}
}  // namespace slimbayes::kernels
#endif
