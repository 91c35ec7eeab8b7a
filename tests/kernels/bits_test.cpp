#include <array>
#include <bit>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

/// Numbers in [-scale / 2, scale / 2) by Marsaglia's xorshift, the same on every processor.
class Draws {
 public:
  void fill(Matrix& x, float scale) {
    for (int64_t i = 0; i < x.rows; ++i)
      for (int64_t j = 0; j < x.width; ++j) x(i, j) = scale * next();
  }

 private:
  float next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<float>(state_ >> 40) / 16777216.0F - 0.5F;
  }
  uint64_t state_ = 88172645463325252ULL;
};

/// An FNV-1a hash of the bits of numbers.
struct Hash {
  uint64_t value = 1469598103934665603ULL;

  template <class Number>
  void add(const std::vector<Number>& numbers) {
    using Bits = std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>;
    for (const Number each : numbers) value = (value ^ std::bit_cast<Bits>(each)) * 1099511628211ULL;
  }
};

/// Returns a hash of the parameters of a network, linear, layer norm, activation, linear, after 20
/// steps of AdamW on a squared error.
uint64_t hash_after_training(const Kernels& k) {
  const int64_t m = 60, d = 26, h = 64, o = 37;
  Draws draws;
  Matrix x(m, d), y(1, m), w(h, d), b(1, h), scale(1, h), shift(1, h), v(o, h), c(1, o);
  for (const auto& [matrix, size] :
       {std::pair(&x, 2.0F), {&y, 2.0F}, {&w, 0.5F}, {&b, 0.1F}, {&scale, 2.0F}, {&v, 0.3F}, {&c, 0.1F}})
    draws.fill(*matrix, size);
  Matrix wt(d, h), vt(h, o), n(m, h), unit(m, h), slope(m, h), inverse(1, m), f(m, o), gf(m, o), ga(m, h);
  const std::array<Matrix*, 6> parameters = {&w, &b, &scale, &shift, &v, &c};
  std::array<Matrix, 6> first = {w, b, scale, shift, v, c}, second = first;
  for (auto* moments : {&first, &second})
    for (Matrix& each : *moments) each.values.assign(each.values.size(), 0);
  double power1 = 1, power2 = 1;
  for (int step = 1; step <= 20; ++step) {
    std::array<Matrix, 6> grad = first;
    for (Matrix& each : grad) each.values.assign(each.values.size(), 0);
    k.transpose(w.data(), w.ld, h, d, 1, wt.data(), wt.ld);
    k.transpose(v.data(), v.ld, o, h, 1, vt.data(), vt.ld);
    k.product({.m = m,
               .k = d,
               .n = h,
               .a = x.data(),
               .lda = x.ld,
               .b = wt.data(),
               .ldb = wt.ld,
               .c = ga.data(),
               .ldc = ga.ld,
               .bias = b.data()});
    k.layer_norm(n.of(), ga.data(), scale.data(), shift.data(), n.data(), unit.data(), inverse.data());
    (step % 2 == 0 ? k.tanh : k.silu)(n.of(), n.data(), slope.data());
    k.product({.m = m,
               .k = h,
               .n = o,
               .a = n.data(),
               .lda = n.ld,
               .b = vt.data(),
               .ldb = vt.ld,
               .c = f.data(),
               .ldc = f.ld,
               .bias = c.data()});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < o; ++j) gf(i, j) = (f(i, j) - y(0, i)) / static_cast<float>(m);
    k.transposed_product({.m = m,
                          .k = o,
                          .n = h,
                          .a = gf.data(),
                          .lda = gf.ld,
                          .b = n.data(),
                          .ldb = n.ld,
                          .c = grad[4].data(),
                          .ldc = grad[4].ld});
    k.add_column_sums(gf.of(), gf.data(), 1, grad[5].data());
    k.product({.m = m,
               .k = o,
               .n = h,
               .a = gf.data(),
               .lda = gf.ld,
               .b = v.data(),
               .ldb = v.ld,
               .c = ga.data(),
               .ldc = ga.ld});
    k.multiply(ga.of(), ga.data(), slope.data());
    k.layer_norm_backward(ga.of(), ga.data(), unit.data(), inverse.data(), scale.data(), grad[2].data(),
                          grad[3].data());
    k.transposed_product({.m = m,
                          .k = h,
                          .n = d,
                          .a = ga.data(),
                          .lda = ga.ld,
                          .b = x.data(),
                          .ldb = x.ld,
                          .c = grad[0].data(),
                          .ldc = grad[0].ld});
    k.add_column_sums(ga.of(), ga.data(), 1, grad[1].data());
    power1 *= 0.9;
    power2 *= 0.999;
    const AdamWStep at{.rate = 0.01F,
                       .decay = 0.01F,
                       .correction1 = static_cast<float>(1 - power1),
                       .correction2 = static_cast<float>(1 - power2)};
    for (size_t i = 0; i < parameters.size(); ++i)
      k.adamw(std::ssize(parameters[i]->values), at, parameters[i]->data(), grad[i].data(), first[i].data(),
              second[i].data());
  }
  Hash hash;
  for (const Matrix* each : parameters) hash.add(each->values);
  return hash.value;
}

/// Returns the hash of what the other kernels compute: float64 ones, and the activations and the embedding of
/// realmlp.
uint64_t hash_of_others(const Kernels& k) {
  const int64_t m = 37, n = 29, f = 21, e = 3;
  Draws draws;
  Matrix a(m, n), b(n, n), slope(m, n), x(m, 2), frequency(2, f), phase(2, f), weight(2 * e, f),
      shift(1, 2 * e), cosine(m, 2 * padded(f)), sine(m, 2 * padded(f)), y(m, 2 * (e + 1));
  for (const auto& [matrix, size] :
       {std::pair(&a, 4.0F), {&b, 1.0F}, {&x, 6.0F}, {&frequency, 2.0F}, {&phase, 1.0F}, {&weight, 1.0F}})
    draws.fill(*matrix, size);
  Hash hash;
  for (const auto activation : {k.mish, k.smooth_clip, k.relu}) {
    Matrix copy = a;
    activation(copy.of(), copy.data(), slope.data());
    hash.add(copy.values);
    hash.add(slope.values);
  }
  const PeriodicRows rows{
      m, 2, f, e + 1, frequency.data(), phase.data(), weight.data(), cosine.data(), sine.data()};
  k.periodic(rows, x.data(), x.ld, shift.data(), y.data(), y.ld);
  std::vector<float> of_frequency(2 * f), of_phase(2 * f), of_weight(2 * e * f), of_shift(2 * e);
  k.periodic_backward(rows, x.data(), x.ld, y.data(), y.ld,
                      {of_frequency.data(), of_phase.data(), of_weight.data(), of_shift.data()});
  for (const auto* each : {&y.values, &of_frequency, &of_phase, &of_weight, &of_shift}) hash.add(*each);

  const int64_t ld = a.ld;
  std::vector<double> left(a.values.begin(), a.values.end()), right(b.values.begin(), b.values.end()),
      out(static_cast<size_t>(m * ld)), gram(static_cast<size_t>(n * ld)), sums(static_cast<size_t>(m));
  const Product64 product{.m = m,
                          .k = n,
                          .n = n,
                          .a = left.data(),
                          .lda = ld,
                          .b = right.data(),
                          .ldb = ld,
                          .c = out.data(),
                          .ldc = ld};
  k.product64(product);
  hash.add(out);
  k.product_squares64(product, sums.data());
  hash.add(sums);
  k.gaussian_kernel64(product, 1.5);
  for (int64_t i = 0; i < m; ++i) std::fill_n(out.begin() + i * ld + n, ld - n, 0.0);  // padding is undefined
  hash.add(out);
  k.transposed_product64({.m = m,
                          .k = n,
                          .n = n,
                          .a = left.data(),
                          .lda = ld,
                          .b = left.data(),
                          .ldb = ld,
                          .c = gram.data(),
                          .ldc = ld});
  hash.add(gram);
  const Rows all{m, n, ld};
  k.layer_norm64(all, left.data(), right.data(), right.data() + ld, out.data());
  hash.add(out);
  k.silu64(all, out.data());
  hash.add(out);
  k.tanh64(all, out.data());
  hash.add(out);
  k.exp_differences64(all, left.data(), sums.data(), 0);
  hash.add(left);
  k.row_squares64(all, out.data(), sums.data());
  hash.add(sums);
  k.row_products64(all, out.data(), right.data(), sums.data());
  hash.add(sums);
  return hash.value;
}

/// Returns the hash of ten steps of an LSTM and of their gradients.
uint64_t hash_of_lstm(const Kernels& k) {
  const int64_t m = 11, n = 21;
  Draws draws;
  Hash hash;
  Matrix cell(m, n), hidden(m, n), squashed(m, n), grad(m, n);
  for (int step = 0; step < 10; ++step) {
    Matrix gates(4 * m, n), to_hidden(m, n);
    draws.fill(gates, 8);
    draws.fill(to_hidden, 2);
    const Matrix before = cell;
    const LstmCell at{m, n, gates.data(), step == 0 ? nullptr : before.data(), cell.data(), squashed.data()};
    k.lstm(at, hidden.data(), hidden.ld);
    hash.add(hidden.values);
    k.lstm_backward(at, to_hidden.data(), grad.data());
    for (const Matrix* each : {&gates, &grad}) hash.add(each->values);
    k.scale_shift_columns(grad.of(), grad.data(), hidden.data(), hidden.data());
  }
  hash.add(grad.values);
  return hash.value;
}

// AVX2 and AVX-512 were measured here, NEON under qemu 7.2 with g++ 12.2 (-march=armv8-a+crypto).
TEST(Kernels, HaveTheSameBitsOnEveryProcessorWithFusedMultiplyAdds) {
  for (const Kernels& k : all_kernels()) {
    if (std::string_view(k.target) == "SSE4") continue;
    EXPECT_EQ(hash_after_training(k), 12890780092239586990ULL) << k.target;
    EXPECT_EQ(hash_of_others(k), 6612117973355487111ULL) << k.target;
    EXPECT_EQ(hash_of_lstm(k), 1287729509493783734ULL) << k.target;
  }
}

}  // namespace
}  // namespace slimbayes::kernels
