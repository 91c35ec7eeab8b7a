// The draws in plain numbers against those of the tensors.
#include "slimbayes/engine/classes/softmax_draws.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/class_average.h"
#include "slimbayes/density/philox.h"

namespace slimbayes {
namespace {

const double* doubles_in(const at::Tensor& x) { return x.const_data_ptr<double>(); }

TEST(SoftmaxDraws, AreThoseOfTheTensors) {
  const Stream stream(7);
  for (const int64_t k : {2, 3, 11}) {
    const at::Tensor mean = 2 * stream.split("m").normal({1, k}), sd = stream.split("s").uniform({1, k});
    const SoftmaxLikelihood tensors{stream.split("draws"), 500};
    const auto expected = std::get<Classes>(tensors.predictive({mean, sd.square()}));
    std::vector<double> p(static_cast<size_t>(k));
    // The key of a stream is that of its split.
    const uint64_t key = philox::split(7, "draws");
    const engine::SoftmaxDraws draws(key, k, 500);
    engine::Doubles work(draws.work_doubles());
    const double entropy =
        draws.average({doubles_in(mean), p.size()}, {doubles_in(sd), p.size()}, p, work.data());
    for (int64_t c = 0; c < k; ++c)
      EXPECT_NEAR(p[static_cast<size_t>(c)], expected.probabilities[0][c].item<double>(), 1e-14);
    EXPECT_NEAR(entropy, expected.expected_entropy.item<double>(), 1e-13);
    EXPECT_NEAR(entropy_of(p), expected.predictive_entropy.item<double>(), 1e-13);

    const at::Tensor root = stream.split("root").normal({1, k, k});
    const auto turned = std::get<Classes>(tensors.predictive(mean, root));
    draws.average_correlated({doubles_in(mean), p.size()}, {doubles_in(root), p.size() * p.size()}, p,
                             work.data());
    for (int64_t c = 0; c < k; ++c)
      EXPECT_NEAR(p[static_cast<size_t>(c)], turned.probabilities[0][c].item<double>(), 1e-14);
  }
}

}  // namespace
}  // namespace slimbayes
