// Matrix products and transposes, in float32 and float64.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/products.cpp"
#include <algorithm>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class N>
struct StoreTo {
  N* c;
  int64_t ldc;
  HWY_INLINE void operator()(int64_t i, int64_t j, VecOf<N> sum) const { Store(sum, c + i * ldc + j); }
};

template <class N>
void Multiply(const ProductOf<N>& p) {
  OverProduct(p, StoreTo<N>{p.c, p.ldc});
}

/// c += scale sum.
template <class N>
struct AddTo {
  N* c;
  int64_t ldc;
  VecOf<N> scale;
  HWY_INLINE void operator()(int64_t i, int64_t j, VecOf<N> sum) const {
    N* at = c + i * ldc + j;
    Store(hn::MulAdd(scale, sum, Load(at)), at);
  }
};

template <class N>
HWY_NOINLINE void AddToFirst(N* c, VecOf<N> scale, VecOf<N> sum, int64_t count) {
  if (count > 0) StoreFirst(hn::MulAdd(scale, sum, LoadFirst(c, count)), c, count);
}

/// The same, for the elements before column n.
template <class N>
struct AddBefore {
  AddTo<N> to;
  int64_t n;
  HWY_INLINE void operator()(int64_t i, int64_t j, VecOf<N> sum) const {
    AddToFirst(to.c + i * to.ldc + j, to.scale, sum, n - j);
  }
};

template <int Rows, int Wide, class N>
void transposed_tile(const TransposedProductOf<N>& p, int64_t i, int64_t j) {
  using Tile = Tile<N, Rows, Wide>;
  Tile tile;
  tile.clear(Tile::kAll);
  const N *a = p.a + i, *b = p.b + j;
  for (int64_t k = 0; k < p.m; ++k, a += p.lda, b += p.ldb) tile.add(a, 1, b, Tile::kRows, Tile::kColumns);
  const AddTo<N> to{p.c, p.ldc, hn::Set(TagOf<N>(), p.scale)};
  if (j + Wide * kLanesOf<N> <= p.n)
    tile.each(to, i, j, Tile::kAll);
  else
    tile.each(AddBefore<N>{to, p.n}, i, j, Tile::kAll);
}

template <int Wide, class N>
void transposed_columns(const TransposedProductOf<N>& p, int64_t j) {
  int64_t i = p.triangle == Triangle::lower ? j / kTall * kTall : 0;
  const int64_t end = p.triangle == Triangle::upper ? std::min(p.k, j + Wide * kLanesOf<N>) : p.k;
  for (; i + kTall <= end; i += kTall) transposed_tile<kTall, Wide>(p, i, j);
  for (; i + 4 <= end; i += 4) transposed_tile<4, Wide>(p, i, j);
  for (; i + 2 <= end; i += 2) transposed_tile<2, Wide>(p, i, j);
  if (i < end) transposed_tile<1, Wide>(p, i, j);
}

template <class N>
void MultiplyTransposed(const TransposedProductOf<N>& p) {
  constexpr int64_t kLanes = kLanesOf<N>;
  const int64_t n = padded(p.n);
  int64_t j = 0;
  if (kWide == 2 || p.triangle == Triangle::full)
    for (; j + kWide * kLanes <= n; j += kWide * kLanes) transposed_columns<kWide>(p, j);
  if constexpr (kWide > 2)
    for (; j + 2 * kLanes <= n; j += 2 * kLanes) transposed_columns<2>(p, j);
  for (; j < n; j += kLanes) transposed_columns<1>(p, j);
}

/// Transposes a block of 4 x 4 numbers.
template <class N>
HWY_INLINE void TransposeBlock(const N* from, int64_t ld, N scale, N* to, int64_t to_ld) {
  for (int64_t c = 0; c < 4; ++c)
    for (int64_t r = 0; r < 4; ++r) to[c * to_ld + r] = scale * from[r * ld + c];
}
template <>
HWY_INLINE void TransposeBlock(const float* from, int64_t ld, float scale, float* to, int64_t to_ld) {
  const hn::FixedTag<float, 4> four;
  const auto factor = hn::Set(four, scale);
  const auto a = hn::LoadU(four, from), b = hn::LoadU(four, from + ld), c = hn::LoadU(four, from + 2 * ld),
             d = hn::LoadU(four, from + 3 * ld);
  const auto ac = hn::InterleaveLower(four, a, c), ac_upper = hn::InterleaveUpper(four, a, c),
             bd = hn::InterleaveLower(four, b, d), bd_upper = hn::InterleaveUpper(four, b, d);
  hn::StoreU(hn::Mul(factor, hn::InterleaveLower(four, ac, bd)), four, to);
  hn::StoreU(hn::Mul(factor, hn::InterleaveUpper(four, ac, bd)), four, to + to_ld);
  hn::StoreU(hn::Mul(factor, hn::InterleaveLower(four, ac_upper, bd_upper)), four, to + 2 * to_ld);
  hn::StoreU(hn::Mul(factor, hn::InterleaveUpper(four, ac_upper, bd_upper)), four, to + 3 * to_ld);
}

// Strips of 16 rows, so that what is read and what is written stay in the first cache.
template <class N>
void Transpose(const N* from, int64_t ld, int64_t rows, int64_t columns, N scale, N* to, int64_t to_ld) {
  for (int64_t i = 0; i < padded(rows); i += kPad) {
    const int64_t present = std::min(rows - i, kPad), whole = present / 4 * 4;
    for (int64_t j = 0; j < columns; j += 4) {
      const int64_t last = std::min<int64_t>(columns, j + 4), blocks = last == j + 4 ? whole : 0;
      for (int64_t r = 0; r < blocks; r += 4)
        TransposeBlock(from + (i + r) * ld + j, ld, scale, to + j * to_ld + i + r, to_ld);
      for (int64_t c = j; c < last; ++c) {
        N* out = to + c * to_ld + i;
        for (int64_t r = blocks; r < present; ++r) out[r] = scale * from[(i + r) * ld + c];
        std::fill(out + present, out + kPad, N(0));
      }
    }
  }
}

}  // namespace

void FillProducts(Kernels& table) {
  table.target = hwy::TargetName(HWY_TARGET);
  table.product = Multiply<float>;
  table.transposed_product = MultiplyTransposed<float>;
  table.product64 = Multiply<double>;
  table.transposed_product64 = MultiplyTransposed<double>;
  table.transpose = Transpose<float>;
  table.transpose64 = Transpose<double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace slimbayes::kernels {
void fill_products(int64_t target, Kernels& table) { SLIMBAYES_FILL(FillProducts, target, table); }
}  // namespace slimbayes::kernels
#endif
