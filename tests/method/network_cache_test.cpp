#include "slimbayes/method/network_cache.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace slimbayes {
namespace {

Dataset rows(int64_t n, uint64_t seed) {
  const at::Tensor x = Stream(seed).normal({n, 2});
  return dataset_of({{}, {"a", "b"}}, {{x}, x.select(1, 0).clone()});
}

TrainedNetwork named(double noise, Stopped stopped = Stopped::budget) {
  TrainedNetwork network{{}, {}, {{.noise_var = noise}}, {}};
  network.summary.stopped = stopped;
  return network;
}

TEST(NetworkCache, TrainsAKeyOnce) {
  NetworkCache cache;
  int trainings = 0;
  const auto train = [&] { return ++trainings, named(trainings); };
  EXPECT_EQ(cache.trained("a", train).head.noise_var, 1);
  EXPECT_EQ(cache.trained("b", train).head.noise_var, 2);
  EXPECT_EQ(cache.taken(), 0);
  EXPECT_EQ(cache.trained("a", train).head.noise_var, 1);
  EXPECT_EQ(trainings, 2);
  EXPECT_EQ(cache.taken(), 1);
  const std::vector<NetworkCache::Use> uses = cache.uses();
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[2].key, "a");
  EXPECT_EQ(uses[2].seconds, uses[0].seconds);  // of the training, whoever asks
  EXPECT_GT(uses[0].seconds, 0);
}

TEST(NetworkCache, ASharedOneHasTheSameNetworksAndUsesOfItsOwn) {
  NetworkCache cache;
  cache.trained("a", [] { return named(1); });
  const auto other = cache.shared();
  EXPECT_EQ(other->trained("a", [] { return named(2); }).head.noise_var, 1);
  EXPECT_EQ(other->taken(), 1);
  EXPECT_EQ(cache.taken(), 0);
}

TEST(NetworkCache, ThreadsThatNeedOneNetworkTrainItOnce) {
  NetworkCache cache;
  std::atomic<int> trainings = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto train = [&] {
        ++trainings;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return named(7);
      };
      EXPECT_EQ(cache.trained("a", train).head.noise_var, 7);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(trainings, 1);
  EXPECT_EQ(cache.taken(), 3);
}

TEST(NetworkCache, DoesNotKeepATrainingThatWasInterruptedOrFailed) {
  NetworkCache cache;
  EXPECT_EQ(cache.trained("a", [] { return named(1, Stopped::interrupted); }).head.noise_var, 1);
  EXPECT_THROW(cache.trained("a", []() -> TrainedNetwork { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(cache.trained("a", [] { return named(2); }).head.noise_var, 2);
  EXPECT_EQ(cache.taken(), 0);
}

TEST(NetworkCache, AKeyHoldsAllThatDecidesTheBits) {
  const NetworkSpec spec{{{2}}, {Linear{1}}};
  const Split split{rows(20, 1), rows(8, 2)};
  const TrainedNetworkOptions options;
  const std::string key = training_key(spec, options, split, Stream(3));
  EXPECT_EQ(training_key(spec, options, {rows(20, 1), rows(8, 2)}, Stream(3)), key);
  TrainedNetworkOptions longer, weighted;
  longer.training.steps += 1;
  weighted.class_weights = "balanced";
  Split classes = split;
  classes.train.schema.task.kind = TaskKind::classification;
  for (const std::string& other :
       {training_key({{{2}}, {Linear{2}}}, options, split, Stream(3)),
        training_key(spec, longer, split, Stream(3)), training_key(spec, weighted, split, Stream(3)),
        training_key(spec, options, {rows(20, 4), split.valid}, Stream(3)),
        training_key(spec, options, {split.train, rows(8, 4)}, Stream(3)),
        training_key(spec, options, {split.train, {}}, Stream(3)),
        training_key(spec, options, {split.train.subset(at::arange(19, -1, -1)), split.valid}, Stream(3)),
        training_key(spec, options, classes, Stream(3)), training_key(spec, options, split, Stream(4)),
        training_key(spec, options, split, Stream(3), at::kCUDA)})
    EXPECT_NE(other, key);
}

}  // namespace
}  // namespace slimbayes
