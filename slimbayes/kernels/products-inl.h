// The tiles of matrix products for one target, in float32 and float64. A tile of the result, up to 6 rows by
// 4 registers, stays in registers while the summed index runs; each step of it loads the registers of a row
// of b once and multiplies them by one element of each row of a. The matrices of a network are small, so that
// nothing is copied: a tile's part of b stays in the first cache while all rows of a chunk pass.
#if defined(SLIMBAYES_KERNELS_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SLIMBAYES_KERNELS_PRODUCTS_INL_H_
#undef SLIMBAYES_KERNELS_PRODUCTS_INL_H_
#else
#define SLIMBAYES_KERNELS_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "slimbayes/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace slimbayes::kernels {
namespace HWY_NAMESPACE {

// Registers in a row of a tile: with 6 rows, 24 of 32 accumulators (AVX-512, NEON) or 12 of 16. The templates
// have the type of the elements, float or double, as parameter N.
constexpr int kWide = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 4 : 2;
constexpr int kTall = 6;

template <class N, int Rows, int Wide>
struct Tile {
  using Vec = VecOf<N>;
  static constexpr int64_t kLanes = kLanesOf<N>;
  static constexpr auto kAll = std::make_index_sequence<static_cast<size_t>(Rows) * Wide>();
  static constexpr auto kRows = std::make_index_sequence<Rows>();
  static constexpr auto kColumns = std::make_index_sequence<Wide>();
  std::array<Vec, static_cast<size_t>(Rows) * Wide> sum;

  template <size_t... I>
  HWY_INLINE void clear(std::index_sequence<I...>) {
    ((sum[I] = hn::Zero(TagOf<N>())), ...);
  }
  template <size_t... J>
  HWY_INLINE void start(const N* bias, std::index_sequence<J...>) {
    const std::array<Vec, Wide> b = {Load(bias + static_cast<int64_t>(J) * kLanes)...};
    repeat(b, kAll);
  }
  template <size_t... I>
  HWY_INLINE void repeat(const std::array<Vec, Wide>& b, std::index_sequence<I...>) {
    ((sum[I] = b[I % Wide]), ...);
  }
  /// sum += a b^T with a, one element a row at `step` numbers from each other, and a row of b.
  template <size_t... I, size_t... J>
  HWY_INLINE void add(const N* a, int64_t step, const N* b, std::index_sequence<I...>,
                      std::index_sequence<J...> columns) {
    const std::array<Vec, Wide> row = {Load(b + static_cast<int64_t>(J) * kLanes)...};
    ((add_row<I>(hn::Set(TagOf<N>(), a[static_cast<int64_t>(I) * step]), row, columns)), ...);
  }
  template <size_t I, size_t... J>
  HWY_INLINE void add_row(Vec a, const std::array<Vec, Wide>& row, std::index_sequence<J...>) {
    ((sum[I * Wide + J] = hn::MulAdd(a, row[J], sum[I * Wide + J])), ...);
  }
  /// Calls f(row, column, sum) for every register of the tile at (i, j). The indices are constants, so that
  /// the sums stay in registers. f is an object: a lambda that is not inlined would keep them in memory.
  template <class F, size_t... I>
  HWY_INLINE void each(F f, int64_t i, int64_t j, std::index_sequence<I...>) const {
    (f(i + static_cast<int64_t>(I / Wide), j + static_cast<int64_t>(I % Wide) * kLanes, sum[I]), ...);
  }
};

template <int Rows, int Wide, class N, class F>
void ProductTile(const ProductOf<N>& p, int64_t i, int64_t j, int64_t from, int64_t to, F f) {
  using Tile = Tile<N, Rows, Wide>;
  Tile tile;
  if (p.bias != nullptr)
    tile.start(p.bias + j, Tile::kColumns);
  else
    tile.clear(Tile::kAll);
  const N *a = p.a + i * p.lda, *b = p.b + from * p.ldb + j;
  for (int64_t k = from; k < to; ++k, b += p.ldb) tile.add(a + k, p.lda, b, Tile::kRows, Tile::kColumns);
  tile.each(f, i, j, Tile::kAll);
}

template <int Wide, class N, class F>
void ProductColumns(const ProductOf<N>& p, int64_t j, F f) {
  const int64_t width = Wide * kLanesOf<N>;
  const int64_t from = p.triangle == Triangle::lower ? std::min(j, p.k) : 0,
                to = p.triangle == Triangle::upper ? std::min(j + width, p.k) : p.k;
  int64_t i = 0;
  if constexpr (Wide <= kWide) {
    for (; i + kTall <= p.m; i += kTall) ProductTile<kTall, Wide>(p, i, j, from, to, f);
    for (; i + 4 <= p.m; i += 4) ProductTile<4, Wide>(p, i, j, from, to, f);
    for (; i + 2 <= p.m; i += 2) ProductTile<2, Wide>(p, i, j, from, to, f);
  }
  if (i < p.m) ProductTile<1, Wide>(p, i, j, from, to, f);
}

/// Calls f(row, column, sum) for every register of the product, also those of the padding.
template <class N, class F>
void OverProduct(const ProductOf<N>& p, F f) {
  constexpr int64_t lanes = kLanesOf<N>;
  const int64_t n = padded(p.n);
  int64_t j = 0;
  if (p.m == 1)  // eight sums at a time hide the latency of an addition
    for (; j + 8 * lanes <= n; j += 8 * lanes) ProductColumns<8>(p, j, f);
  if (kWide == 2 || p.triangle == Triangle::full)  // narrow tiles compute fewer zeros of a triangle
    for (; j + kWide * lanes <= n; j += kWide * lanes) ProductColumns<kWide>(p, j, f);
  if constexpr (kWide > 2)
    for (; j + 2 * lanes <= n; j += 2 * lanes) ProductColumns<2>(p, j, f);
  for (; j < n; j += lanes) ProductColumns<1>(p, j, f);
}

}  // namespace HWY_NAMESPACE
}  // namespace slimbayes::kernels
HWY_AFTER_NAMESPACE();

#endif
