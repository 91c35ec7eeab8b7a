#include <algorithm>
#include <numbers>
#include <string_view>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

/// An embedding with its parameters, rows and the gradient of its result; sizes as in PeriodicRows. The
/// padding of the parameters is zero.
struct Embedding {
  int64_t rows, columns, frequencies, out;
  Matrix frequency, phase, weight, shift, x, g, cosine, sine, y;
  std::vector<float> of_frequency, of_phase, of_weight, of_shift;  // gradients

  Embedding(int64_t rows, int64_t columns, int64_t frequencies, int64_t out)
      : rows(rows),
        columns(columns),
        frequencies(frequencies),
        out(out),
        frequency(columns, frequencies, 1),
        phase(columns, frequencies, 2),
        weight(columns * (out - 1), frequencies, 3),
        shift(1, columns * (out - 1), 4),
        x(rows, columns, 5),
        g(rows, columns * out, 6),
        cosine(rows, columns * padded(frequencies)),
        sine(rows, columns * padded(frequencies)),
        y(rows, columns * out),
        of_frequency(static_cast<size_t>(columns * frequencies)),
        of_phase(of_frequency),
        of_weight(of_frequency.size() * static_cast<size_t>(out - 1)),
        of_shift(static_cast<size_t>(columns * (out - 1))) {
    y.values.assign(y.values.size(), 7);  // what the kernel must overwrite, also in the padding
  }

  void pass(const Kernels& k) {
    const PeriodicRows at{rows,         columns,       frequencies,   out,        frequency.data(),
                          phase.data(), weight.data(), cosine.data(), sine.data()};
    k.periodic(at, x.data(), x.ld, shift.data(), y.data(), y.ld);
    k.periodic_backward(at, x.data(), x.ld, g.data(), g.ld,
                        {of_frequency.data(), of_phase.data(), of_weight.data(), of_shift.data()});
  }

  double angle(int64_t i, int64_t j, int64_t k) const {
    return 2 * std::numbers::pi * (frequency(j, k) * x(i, j) + phase(j, k));
  }
};

std::vector<Embedding> embeddings() { return {{7, 3, 16, 4}, {61, 2, 5, 2}, {4, 1, 20, 3}, {0, 2, 16, 4}}; }

class PeriodicKernels : public EveryTarget {};

TEST_P(PeriodicKernels, EmbedAsFloat64Does) {
  for (Embedding& e : embeddings()) {
    e.pass(k());
    for (int64_t i = 0; i < e.rows; ++i)
      for (int64_t j = 0; j < e.columns; ++j) {
        for (int64_t o = 0; o + 1 < e.out; ++o) {
          double sum = e.shift(0, j * (e.out - 1) + o), size = 1;
          for (int64_t q = 0; q < e.frequencies; ++q) {
            const double w = e.weight(j * (e.out - 1) + o, q);
            sum += w * std::cos(e.angle(i, j, q));
            size += std::abs(w);
          }
          EXPECT_NEAR(e.y(i, j * e.out + o), sum, 1e-6 * size);
        }
        EXPECT_EQ(e.y(i, j * e.out + e.out - 1), e.x(i, j));
      }
    EXPECT_TRUE(e.y.padding_is_zero());
  }
}

TEST_P(PeriodicKernels, GradientsAreThoseOfFloat64) {
  for (Embedding& e : embeddings()) {
    e.pass(k());
    const int64_t n = e.out - 1;
    for (int64_t j = 0; j < e.columns; ++j)
      for (int64_t q = 0; q < e.frequencies; ++q) {
        double frequency = 0, phase = 0, size = 1;
        for (int64_t i = 0; i < e.rows; ++i) {
          double of_cosine = 0;
          for (int64_t o = 0; o < n; ++o) of_cosine += e.g(i, j * e.out + o) * e.weight(j * n + o, q);
          const double slope = -std::sin(e.angle(i, j, q)) * of_cosine;
          phase += slope;
          frequency += 2 * std::numbers::pi * e.x(i, j) * slope;
          size += std::abs(2 * std::numbers::pi * e.x(i, j) * slope) + std::abs(of_cosine);
        }
        const auto at = static_cast<size_t>(j * e.frequencies + q);
        EXPECT_NEAR(e.of_phase[at], phase, 2e-6 * size);
        EXPECT_NEAR(e.of_frequency[at], frequency, 2e-6 * size);
        for (int64_t o = 0; o < n; ++o) {
          double weight = 0, shift = 0;
          for (int64_t i = 0; i < e.rows; ++i) {
            weight += e.g(i, j * e.out + o) * std::cos(e.angle(i, j, q));
            shift += e.g(i, j * e.out + o);
          }
          EXPECT_NEAR(e.of_weight[static_cast<size_t>((j * n + o) * e.frequencies + q)], weight, 2e-5);
          EXPECT_NEAR(e.of_shift[static_cast<size_t>(j * n + o)], shift, 2e-5);
        }
      }
  }
}

// The angle is float32; what follows it is as exact as the number.
TEST_P(PeriodicKernels, CosinesAreExactFarFromZero) {
  Embedding e(1, 1, 16, 2);
  for (const float far :
       {0.125F, -0.375F, 0.25F, 0.5F, -1.5F, 1000.3F, -77777.77F, 8388609.0F, 3e9F, -1e30F}) {
    for (int64_t q = 0; q < 16; ++q) {
      e.frequency(0, q) = far;
      e.phase(0, q) = 0;
    }
    e.x(0, 0) = 1;
    e.pass(k());
    const double turns = far - std::floor(static_cast<double>(far));
    EXPECT_NEAR(e.cosine.values[3], std::cos(2 * std::numbers::pi * turns), 1.5e-7) << far;
    EXPECT_NEAR(e.sine.values[3], std::sin(2 * std::numbers::pi * turns), 1.5e-7) << far;
  }
  for (const float bad : {NAN, INFINITY}) {
    e.x(0, 0) = bad;
    e.pass(k());
    EXPECT_TRUE(std::isnan(e.y.values[0]));
  }
}

SLIMBAYES_EVERY_TARGET(PeriodicKernels);

TEST(PeriodicKernels, HaveTheSameBitsOnTargetsWithFusedMultiplyAdds) {
  std::vector<Embedding> found;
  for (const Kernels& k : all_kernels()) {
    if (std::string_view(k.target) == "SSE4") continue;
    found.emplace_back(61, 3, 21, 4).pass(k);
  }
  for (const Embedding& one : found) {
    EXPECT_EQ(one.y.values, found.front().y.values);
    EXPECT_EQ(one.of_frequency, found.front().of_frequency);
    EXPECT_EQ(one.of_phase, found.front().of_phase);
    EXPECT_EQ(one.of_weight, found.front().of_weight);
  }
}

}  // namespace
}  // namespace slimbayes::kernels
