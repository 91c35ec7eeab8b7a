// Functions of whole rows and columns: the layer norm, sums, and products with one vector.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/rows.cpp"
#include <cmath>
#include <limits>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr float kNormEpsilon = 1e-5F, kNaN = std::numeric_limits<float>::quiet_NaN();

/// Calls f(j, v) for the offset of every register of a padded row; v is its number within the group of 16.
template <class F>
HWY_INLINE void OverRow(int64_t width, F f) {
  for (int64_t j = 0; j < width; j += kPad)
    for (int64_t v = 0; v < kVecs; ++v) f(j + v * kLanes, v);
}

/// Returns the sum over a row of f, a register for each offset.
template <class F>
HWY_INLINE float RowSum(int64_t width, F f) {
  PartialSums sums;
  for (int64_t j = 0; j < width; j += kPad)
    for (int64_t v = 0; v < kVecs; ++v) sums.part[v] = f(j + v * kLanes, sums.part[v]);
  return sums.total();
}

/// x - mean in the `count` first elements of a register, 0 in the others.
HWY_INLINE Vec Centred(Vec x, Vec mean, int64_t count) {
  const Vec centred = hn::Sub(x, mean);
  if (count >= kLanes) return centred;
  return count <= 0 ? hn::Zero(kTag)
                    : hn::IfThenElseZero(hn::FirstN(kTag, static_cast<size_t>(count)), centred);
}

void LayerNorm(Rows at, const float* x, const float* scale, const float* shift, float* y, float* unit,
               float* inverse_sd) {
  const auto n = static_cast<float>(at.width);
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld, y += at.ld, unit += at.ld) {
    const float sum = RowSum(at.width, [&](int64_t j, Vec s) HWY_ATTR { return hn::Add(s, Load(x + j)); });
    const Vec mean = All(sum / n);
    const float squares = RowSum(at.width, [&](int64_t j, Vec s) HWY_ATTR {
      const Vec c = Centred(Load(x + j), mean, at.width - j);
      Store(c, unit + j);
      return hn::MulAdd(c, c, s);
    });
    const float var = squares / n + kNormEpsilon;
    const Vec inverse = hn::Div(All(1), hn::Sqrt(All(std::isfinite(var) ? var : kNaN)));
    inverse_sd[i] = hn::GetLane(inverse);
    OverRow(at.width, [&](int64_t j, int64_t) HWY_ATTR {
      const Vec u = hn::Mul(Load(unit + j), inverse);
      Store(u, unit + j);
      Store(hn::MulAdd(u, Load(scale + j), Load(shift + j)), y + j);
    });
  }
}

/// sums[j] += weight * sum over the rows of f(i, j).
template <class F>
HWY_INLINE void ColumnSums(Rows at, float weight, float* sums, F f) {
  const Vec w = All(weight);
  for (int64_t j = 0; j < at.width; j += kLanes) {
    Vec sum = hn::Zero(kTag);
    for (int64_t i = 0; i < at.rows; ++i) sum = f(i * at.ld + j, sum);
    const int64_t left = at.width - j;
    StoreFirst(hn::MulAdd(w, sum, LoadFirst(sums + j, left)), sums + j, left);
  }
}

void AddColumnSums(Rows at, const float* x, float weight, float* sums) {
  ColumnSums(at, weight, sums, [x](int64_t k, Vec sum) HWY_ATTR { return hn::Add(sum, Load(x + k)); });
}

void AddColumnProducts(Rows at, const float* x, const float* other, float* sums) {
  ColumnSums(at, 1, sums, [x, other](int64_t k, Vec sum) HWY_ATTR {
    return hn::MulAdd(Load(x + k), Load(other + k), sum);
  });
}

void LayerNormBackward(Rows at, float* g, const float* unit, const float* inverse_sd, const float* scale,
                       float* grad_scale, float* grad_shift) {
  if (grad_scale != nullptr) AddColumnProducts(at, g, unit, grad_scale);
  if (grad_shift != nullptr) AddColumnSums(at, g, 1, grad_shift);
  const auto n = static_cast<float>(at.width);
  for (int64_t i = 0; i < at.rows; ++i, g += at.ld, unit += at.ld) {
    PartialSums of_gradient, of_product;
    OverRow(at.width, [&](int64_t j, int64_t v) HWY_ATTR {
      const Vec scaled = hn::Mul(Load(g + j), Load(scale + j));
      Store(scaled, g + j);
      of_gradient.part[v] = hn::Add(of_gradient.part[v], scaled);
      of_product.part[v] = hn::MulAdd(scaled, Load(unit + j), of_product.part[v]);
    });
    const Vec mean = All(of_gradient.total() / n), slope = All(of_product.total() / n),
              inverse = All(inverse_sd[i]);
    OverRow(at.width, [&](int64_t j, int64_t) HWY_ATTR {
      const Vec across = Centred(Load(g + j), mean, at.width - j);
      Store(hn::Mul(inverse, hn::NegMulAdd(Load(unit + j), slope, across)), g + j);
    });
  }
}

void Add(Rows at, float* x, const float* other) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld, other += at.ld)
    OverRow(at.width,
            [&](int64_t j, int64_t) HWY_ATTR { Store(hn::Add(Load(x + j), Load(other + j)), x + j); });
}

void ScaleColumns(Rows at, float* x, const float* scale) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    OverRow(at.width,
            [&](int64_t j, int64_t) HWY_ATTR { Store(hn::Mul(Load(x + j), Load(scale + j)), x + j); });
}

void ScaleShiftColumns(Rows at, float* x, const float* scale, const float* shift) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    OverRow(at.width, [&](int64_t j, int64_t) HWY_ATTR {
      Store(hn::MulAdd(Load(x + j), Load(scale + j), Load(shift + j)), x + j);
    });
}

void ScaleRows(Rows at, float* x, const float* scale) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld) {
    const Vec s = All(scale[i]);
    OverRow(at.width, [&](int64_t j, int64_t) HWY_ATTR { Store(hn::Mul(Load(x + j), s), x + j); });
  }
}

void AddOuter(Rows at, float* x, const float* scale, const float* with) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld) {
    const Vec s = All(scale[i]);
    OverRow(at.width,
            [&](int64_t j, int64_t) HWY_ATTR { Store(hn::MulAdd(s, Load(with + j), Load(x + j)), x + j); });
  }
}

void AddScaledRows(Rows at, float* x, const float* scale, const float* other) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld, other += at.ld) {
    const Vec s = All(scale[i]);
    OverRow(at.width,
            [&](int64_t j, int64_t) HWY_ATTR { Store(hn::MulAdd(s, Load(other + j), Load(x + j)), x + j); });
  }
}

void RowSquares(Rows at, const float* x, float* squares) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    squares[i] = RowSum(at.width, [&](int64_t j, Vec s) HWY_ATTR {
      const Vec v = Load(x + j);
      return hn::MulAdd(v, v, s);
    });
}

void RowProducts(Rows at, const float* x, const float* with, float* out) {
  for (int64_t i = 0; i < at.rows; ++i, x += at.ld)
    out[i] = RowSum(at.width,
                    [&](int64_t j, Vec s) HWY_ATTR { return hn::MulAdd(Load(x + j), Load(with + j), s); });
}

}  // namespace

void FillRows(Kernels& table) {
  table.layer_norm = LayerNorm;
  table.layer_norm_backward = LayerNormBackward;
  table.add = Add;
  table.scale_columns = ScaleColumns;
  table.scale_shift_columns = ScaleShiftColumns;
  table.add_column_sums = AddColumnSums;
  table.add_column_products = AddColumnProducts;
  table.row_squares = RowSquares;
  table.row_products = RowProducts;
  table.scale_rows = ScaleRows;
  table.add_outer = AddOuter;
  table.add_scaled_rows = AddScaledRows;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_rows(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillRows, target, table); }
}  // namespace slimbayes::kernels
#endif
