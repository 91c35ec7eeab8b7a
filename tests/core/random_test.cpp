#include "slimbayes/core/random.h"

#include <ATen/ATen.h>
#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "slimbayes/core/device_random.h"

namespace slimbayes {
namespace {

// Reference values: the known answers of Philox4x32-10 published with Random123 (kat_vectors).
TEST(Random, PhiloxMatchesThePublishedVectors) {
  struct Known {
    philox4x32_ctr_t counter;
    philox4x32_key_t key;
    std::array<uint32_t, 4> answer;
  };
  const Known known[] = {
      {{{0, 0, 0, 0}}, {{0, 0}}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       {{0xffffffff, 0xffffffff}},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       {{0xa4093822, 0x299f31d0}},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Known& k : known) {
    philox4x32_ctr_t out = philox4x32(k.counter, k.key);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(out[i], k.answer[i]);
  }
  EXPECT_EQ(Stream(0).bits(0), 0xe169c58d6627e8d5u);
  EXPECT_EQ(Stream(0).bits(1), 0x9b00dbd8bc57ac4cu);
}

TEST(Random, BitsAreTheBlocksOfTheKey) {
  uint64_t seed = 0x299f31d0a4093822u;
  for (uint64_t i : {0ull, 1ull, 2ull, 77ull, (1ull << 40) + 1, ~0ull}) {
    uint64_t b = i / 2;
    philox4x32_ctr_t c = {{static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32), 0, 0}};
    philox4x32_key_t key = {{0xa4093822, 0x299f31d0}};
    philox4x32_ctr_t out = philox4x32(c, key);
    uint64_t expected =
        i % 2 ? out[2] | static_cast<uint64_t>(out[3]) << 32 : out[0] | static_cast<uint64_t>(out[1]) << 32;
    EXPECT_EQ(Stream(seed).bits(i), expected);
  }
}

// The chunks hold 16,384 numbers, the first half by cosine, the second half by sine.
TEST(Random, Float32NormalsAreStandardNormalAndDoNotDependOnTheirCount) {
  const Stream stream(3);
  const at::Tensor all = stream.normal_float32({7, 50000});
  EXPECT_EQ(all.scalar_type(), at::kFloat);
  for (const int64_t n : {1, 10, 1025, 8191, 8193, 16384, 16385, 40001})
    EXPECT_TRUE(at::equal(stream.normal_float32({n}), all.flatten().narrow(0, 0, n))) << n;
  EXPECT_EQ(stream.normal_float32({0}).numel(), 0);
  EXPECT_FALSE(at::equal(Stream(4).normal_float32({100}), all.flatten().narrow(0, 0, 100)));

  const at::Tensor z = all.flatten().to(at::kDouble);
  const double n = static_cast<double>(z.numel());
  EXPECT_NEAR(z.mean().item<double>(), 0, 5 / std::sqrt(n));
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(z.pow(4).mean().item<double>(), 3, 5 * std::sqrt(96 / n));
  for (const int64_t lag : {1, 512, 1024, 8192})  // neighbours, lanes, blocks, cosine and sine
    EXPECT_NEAR((z.slice(0, lag) * z.slice(0, 0, -lag)).mean().item<double>(), 0, 5 / std::sqrt(n)) << lag;
  for (const auto& [point, below] :
       {std::pair{-2.0, 0.02275}, {-1.0, 0.15866}, {0.5, 0.69146}, {1.5, 0.93319}})
    EXPECT_NEAR((z < point).to(at::kDouble).mean().item<double>(), below, 5 * std::sqrt(0.25 / n)) << point;
}

// The first numbers of a chunk are those of Random123's own Philox, lane by lane: words 0 and 2 of counter i
// make number i, words 1 and 3 number 512 + i.
TEST(Random, Float32NormalsAreTheBlocksOfTheLibrary) {
  constexpr int64_t kLanes = 512;
  constexpr uint32_t kTag = 3;
  const at::Tensor found = Stream(0x299f31d0a4093822u).normal_float32({2 * kLanes});
  const auto unit = [](uint32_t word) { return ((word >> 8) + 0.5) * 0x1p-24; };
  for (const uint32_t i : {0u, 1u, 17u, 511u}) {
    const philox4x32_ctr_t counter = {{i, 0, kTag, 0}};
    const philox4x32_key_t key = {{0xa4093822, 0x299f31d0}};
    const philox4x32_ctr_t out = philox4x32(counter, key);
    for (const int64_t half : {0, 1}) {
      const auto j = static_cast<size_t>(half);
      const double expected = std::sqrt(-2 * std::log(unit(out[j]))) * std::cos(2 * M_PI * unit(out[j + 2]));
      EXPECT_NEAR(found[half * kLanes + i].item<double>(), expected, 1e-5) << i << " " << half;
    }
  }
}

TEST(Random, TensorsHoldTheStreamsNumbersInOrder) {
  Stream s(3);
  at::Tensor u = s.uniform({5, 3}), z = s.normal({15});
  for (int64_t i = 14; i >= 0; --i) {
    EXPECT_EQ(u[i / 3][i % 3].item<double>(), s.uniform(static_cast<uint64_t>(i)));
    EXPECT_EQ(z[i].item<double>(), s.normal(static_cast<uint64_t>(i)));
  }
  // A longer tensor begins with the numbers of the shorter one.
  EXPECT_TRUE(at::equal(s.normal({100}).slice(0, 0, 15), z));
  EXPECT_TRUE(at::equal(s.normal({15}, at::kFloat), z.to(at::kFloat)));
  EXPECT_EQ(s.uniform({0, 4}).numel(), 0);
  EXPECT_EQ(s.uniform({}).dim(), 0);
  EXPECT_THROW(s.normal({2}, at::kHalf), std::invalid_argument);
}

TEST(Random, TensorOperationsGiveTheNumbersOfOtherDevices) {
  constexpr uint64_t kKey = 0x9e3779b97f4a7c15;
  const Stream stream(kKey);
  for (const int64_t n : {0, 1, 7, 10000}) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat})
      EXPECT_TRUE(at::equal(uniform_of(kKey, {n, 3}, type), stream.uniform({n, 3}, type))) << n;
    EXPECT_TRUE(
        at::allclose(normal_float32_of(kKey, {n, 3}, at::kCPU), stream.normal_float32({n, 3}), 1e-5, 1e-6))
        << n;
  }
}

TEST(Random, MomentsOfUniformsAndNormals) {
  constexpr int64_t n = 1'000'000;
  at::Tensor u = Stream(11).uniform({n}), z = Stream(11).normal({n});
  EXPECT_GT(u.min().item<double>(), 0);
  EXPECT_LT(u.max().item<double>(), 1);
  EXPECT_NEAR(u.mean().item<double>(), 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(z.mean().item<double>(), 0, 5 / std::sqrt(1.0 * n));
  EXPECT_NEAR(z.var().item<double>(), 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(z.pow(4).mean().item<double>(), 3, 5 * std::sqrt(96.0 / n));
  EXPECT_NEAR((z.abs() > 1.959963984540054).to(at::kDouble).mean().item<double>(), 0.05,
              5 * std::sqrt(0.0475 / n));
  // The two normals of one Philox block are uncorrelated.
  at::Tensor pairs = z.view({-1, 2});
  EXPECT_NEAR((pairs.select(1, 0) * pairs.select(1, 1)).mean().item<double>(), 0, 5 / std::sqrt(0.5 * n));
  EXPECT_LT(Stream(5).uniform({20'000'000}, at::kFloat).max().item<float>(), 1.0f);
}

TEST(Random, SplitsAreDistinctAndIndependent) {
  Stream root(42);
  std::set<uint64_t> first = {root.bits(0),
                              root.split("").bits(0),
                              root.split("weights").bits(0),
                              root.split("epoch").bits(0),
                              root.split("a").bits(0),
                              root.split(std::string_view("a\0", 2)).bits(0),
                              root.split("12345678").bits(0),
                              root.split("123456789").bits(0),
                              root.split("epoch").split("weights").bits(0),
                              root.split("weights").split("epoch").bits(0),
                              Stream(43).split("weights").bits(0)};
  for (uint64_t i = 0; i < 1000; ++i) first.insert(root.split(i).bits(0));
  EXPECT_EQ(first.size(), 1011u);
  EXPECT_EQ(root.split("weights").bits(9), Stream(42).split("weights").bits(9));

  constexpr int64_t n = 100'000;
  at::Tensor z[] = {root.normal({n}), root.split("a").normal({n}), root.split(0).normal({n}),
                    root.split(1).normal({n})};
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < a; ++b) EXPECT_NEAR((z[a] * z[b]).mean().item<double>(), 0, 5 / std::sqrt(1.0 * n));
}

TEST(Random, PermutationsAreUniform) {
  std::map<std::array<int64_t, 4>, int> count;
  constexpr uint64_t draws = 24'000;
  for (uint64_t s = 0; s < draws; ++s) {
    at::Tensor p = Stream(7).split(s).permutation(4);
    const int64_t* v = p.const_data_ptr<int64_t>();
    ++count[{v[0], v[1], v[2], v[3]}];
  }
  ASSERT_EQ(count.size(), 24u);
  double chi2 = 0;
  for (auto& [p, c] : count) chi2 += std::pow(c - 1000.0, 2) / 1000.0;
  EXPECT_LT(chi2, 49.73);  // chi-squared with 23 degrees of freedom, upper 0.1 %

  at::Tensor big = Stream(7).permutation(1000);
  EXPECT_TRUE(at::equal(std::get<0>(big.sort()), at::arange(1000, at::kLong)));
  EXPECT_TRUE(at::equal(big, Stream(7).permutation(1000)));
  EXPECT_EQ(Stream(7).permutation(0).numel(), 0);
  EXPECT_THROW(Stream(7).permutation(-1), std::invalid_argument);
}

TEST(Random, TenMillionNormalsTakeAboutASecond) {
  auto start = std::chrono::steady_clock::now();
  Stream(1).normal({10'000'000});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
  EXPECT_LT(seconds, 10);  // generous, because other work may share the processor
}

}  // namespace
}  // namespace slimbayes
