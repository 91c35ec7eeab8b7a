// Matrix products. A tile of the result, up to 6 rows by 4 registers, stays in registers while the summed
// index runs; each step of it loads the registers of a row of b once and multiplies them by one element of
// each row of a. The matrices of a network are small, so that nothing is copied: a tile's part of b stays in
// the first cache while all rows of a chunk pass.
#include "slimbayes/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "slimbayes/kernels/products.cpp"
#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"
#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {
namespace {

// Registers in a row of a tile: with 6 rows, 24 of 32 accumulators (AVX-512, NEON) or 12 of 16. The templates
// have the type of the elements, float or double, as parameter N.
constexpr int kWide = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;
constexpr int kTall = 6;

template <class N, int Rows, int Wide>
struct Tile {
  using Vec = VecOf<N>;
  static constexpr int64_t kLanes = kLanesOf<N>;
  std::array<Vec, static_cast<size_t>(Rows) * Wide> sum;

  template <size_t... I>
  HWY_INLINE void clear(std::index_sequence<I...>) {
    ((sum[I] = hn::Zero(TagOf<N>())), ...);
  }
  template <size_t... J>
  HWY_INLINE void start(const N* bias, std::index_sequence<J...>) {
    const std::array<Vec, Wide> b = {Load(bias + static_cast<int64_t>(J) * kLanes)...};
    repeat(b, std::make_index_sequence<static_cast<size_t>(Rows) * Wide>());
  }
  template <size_t... I>
  HWY_INLINE void repeat(const std::array<Vec, Wide>& b, std::index_sequence<I...>) {
    ((sum[I] = b[I % Wide]), ...);
  }
  /// sum += a b^T with a, one element a row at `step` floats from each other, and a row of b.
  template <size_t... I, size_t... J>
  HWY_INLINE void add(const N* a, int64_t step, const N* b, std::index_sequence<I...>,
                      std::index_sequence<J...>) {
    const std::array<Vec, Wide> row = {Load(b + static_cast<int64_t>(J) * kLanes)...};
    ((add_row<I>(hn::Set(TagOf<N>(), a[static_cast<int64_t>(I) * step]), row, std::index_sequence<J...>())),
     ...);
  }
  /// Calls f(row, column offset, sum) for every register. The indices are constants, so that the sums stay in
  /// registers.
  template <class F, size_t... I>
  HWY_INLINE void each(F f, std::index_sequence<I...>) const {
    (f(static_cast<int64_t>(I / Wide), static_cast<int64_t>(I % Wide) * kLanes, sum[I]), ...);
  }
  template <size_t I, size_t... J>
  HWY_INLINE void add_row(Vec a, const std::array<Vec, Wide>& row, std::index_sequence<J...>) {
    ((sum[I * Wide + J] = hn::MulAdd(a, row[J], sum[I * Wide + J])), ...);
  }
};

template <int Rows, int Wide, class N>
void product_tile(const ProductOf<N>& p, int64_t i, int64_t j, int64_t from, int64_t to) {
  constexpr auto rows = std::make_index_sequence<Rows>();
  constexpr auto wide = std::make_index_sequence<Wide>();
  Tile<N, Rows, Wide> tile;
  if (p.bias != nullptr)
    tile.start(p.bias + j, wide);
  else
    tile.clear(std::make_index_sequence<static_cast<size_t>(Rows) * Wide>());
  const N *a = p.a + i * p.lda, *b = p.b + from * p.ldb + j;
  for (int64_t k = from; k < to; ++k, b += p.ldb) tile.add(a + k, p.lda, b, rows, wide);
  N* c = p.c + i * p.ldc + j;
  tile.each([&](int64_t r, int64_t at, VecOf<N> sum) HWY_ATTR { Store(sum, c + r * p.ldc + at); },
            std::make_index_sequence<static_cast<size_t>(Rows) * Wide>());
}

template <int Wide, class N>
void product_columns(const ProductOf<N>& p, int64_t j) {
  const int64_t width = Wide * kLanesOf<N>;
  const int64_t from = p.triangle == Triangle::lower ? std::min(j, p.k) : 0,
                to = p.triangle == Triangle::upper ? std::min(j + width, p.k) : p.k;
  int64_t i = 0;
  for (; i + kTall <= p.m; i += kTall) product_tile<kTall, Wide>(p, i, j, from, to);
  for (; i + 4 <= p.m; i += 4) product_tile<4, Wide>(p, i, j, from, to);
  for (; i + 2 <= p.m; i += 2) product_tile<2, Wide>(p, i, j, from, to);
  if (i < p.m) product_tile<1, Wide>(p, i, j, from, to);
}

template <class N>
void Multiply(const ProductOf<N>& p) {
  constexpr int64_t kLanes = kLanesOf<N>;
  const int64_t n = padded(p.n);
  int64_t j = 0;
  for (; j + kWide * kLanes <= n; j += kWide * kLanes) product_columns<kWide>(p, j);
  if constexpr (kWide > 2)
    for (; j + 2 * kLanes <= n; j += 2 * kLanes) product_columns<2>(p, j);
  for (; j < n; j += kLanes) product_columns<1>(p, j);
}

/// c += scale sum.
template <class N>
HWY_INLINE void AddTo(N* c, VecOf<N> scale, VecOf<N> sum) {
  Store(hn::MulAdd(scale, sum, Load(c)), c);
}

/// The same for the first `count` elements, which may be none.
template <class N>
HWY_NOINLINE void AddToFirst(N* c, VecOf<N> scale, VecOf<N> sum, int64_t count) {
  if (count > 0) StoreFirst(hn::MulAdd(scale, sum, LoadFirst(c, count)), c, count);
}

template <int Rows, int Wide, class N>
void transposed_tile(const TransposedProductOf<N>& p, int64_t i, int64_t j) {
  constexpr auto rows = std::make_index_sequence<Rows>();
  constexpr auto wide = std::make_index_sequence<Wide>();
  Tile<N, Rows, Wide> tile;
  tile.clear(std::make_index_sequence<static_cast<size_t>(Rows) * Wide>());
  const N *a = p.a + i, *b = p.b + j;
  for (int64_t k = 0; k < p.m; ++k, a += p.lda, b += p.ldb) tile.add(a, 1, b, rows, wide);
  const VecOf<N> scale = hn::Set(TagOf<N>(), p.scale);
  N* c = p.c + i * p.ldc + j;
  constexpr auto all = std::make_index_sequence<static_cast<size_t>(Rows) * Wide>();
  if (j + Wide * kLanesOf<N> <= p.n)
    tile.each([&](int64_t r, int64_t at, VecOf<N> sum) HWY_ATTR { AddTo<N>(c + r * p.ldc + at, scale, sum); },
              all);
  else
    tile.each([&](int64_t r, int64_t at, VecOf<N> sum)
                  HWY_ATTR { AddToFirst<N>(c + r * p.ldc + at, scale, sum, p.n - j - at); },
              all);
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
  for (; j + kWide * kLanes <= n; j += kWide * kLanes) transposed_columns<kWide>(p, j);
  if constexpr (kWide > 2)
    for (; j + 2 * kLanes <= n; j += 2 * kLanes) transposed_columns<2>(p, j);
  for (; j < n; j += kLanes) transposed_columns<1>(p, j);
}

// Blocks of 16 x 16, so that what is read and what is written stay in the first cache.
template <class N>
void Transpose(const N* from, int64_t ld, int64_t rows, int64_t columns, N scale, N* to, int64_t to_ld) {
  const int64_t wide = padded(rows);
  for (int64_t i = 0; i < wide; i += 16) {
    for (int64_t j = 0; j < columns; j += 16) {
      const int64_t last = std::min<int64_t>(columns, j + 16), present = std::min<int64_t>(rows, i + 16);
      for (int64_t c = j; c < last; ++c) {
        N* out = to + c * to_ld;
        for (int64_t r = i; r < present; ++r) out[r] = scale * from[r * ld + c];
        for (int64_t r = std::max(i, present); r < i + 16; ++r) out[r] = 0;
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
