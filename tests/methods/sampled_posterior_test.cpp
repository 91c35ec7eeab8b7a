// Posteriors of a sample of the rows (--subsample, --class-rows), and their shards.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "slimbayes/families/trained_network.h"
#include "slimbayes/methods/registry.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

const json kTinyNetwork = {
    {"network", "mlp"}, {"hidden", 12}, {"blocks", 2}, {"activation", "tanh"}, {"steps", 300}};

std::unique_ptr<Fitted> sampled_by(const std::string& method, json options, const Split& split) {
  options.update(kTinyNetwork);
  return registry_row(method).make(options)->fit(split, {Stream(5)});
}

TEST(SampledPosterior, AShardForgets) {
  const Split split = contract::toy_split();
  const Dataset more = contract::toy(40, 7), test = contract::toy(30, 9);
  const Dataset kept = more.subset(at::arange(0, 39)), last = more.subset(at::arange(39, 40));
  const auto var = [&](const Fitted& one) { return answer(one, test).epistemic_var; };
  for (const char* method : {"rich-bll", "bll"}) {
    const auto load = registry_row(method).load;
    const auto sampled = sampled_by(method, {{"subsample", 0.5}}, split);
    EXPECT_THROW(sampled->updated({}, last), std::invalid_argument);
    EXPECT_THROW(load(sampled->save())->updated({}, last), std::invalid_argument);
    const auto shard = sampled->prior()->updated(more, {});
    // Up to the rounding of the float32 network, which differs with the rows in a batch.
    const at::Tensor exact = var(*sampled->prior()->updated(kept, {}));
    EXPECT_TRUE(at::allclose(var(*shard->updated({}, last)), exact, 1e-5, 1e-10));
    EXPECT_TRUE(at::allclose(var(*load(shard->save())->updated({}, last)), exact, 1e-5, 1e-10));
    EXPECT_THROW(shard->merged(*sampled)->updated({}, last), std::invalid_argument);
    EXPECT_THROW(sampled->merged(*shard)->updated({}, last), std::invalid_argument);
    // A file of before does not tell a shard from a sample.
    TensorFile older = shard->save();
    older.tensors.erase("sampled");
    EXPECT_THROW(load(older)->updated({}, last), std::invalid_argument);
  }
}

TEST(SampledPosterior, AShardForgetsThatHasMoreRowsOfAClassThanAFitTakes) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const Dataset more = contract::task_toy(LikelihoodKind::softmax, 60, 7),
                test = contract::task_toy(LikelihoodKind::softmax, 20, 9);
  const Dataset kept = more.subset(at::arange(0, 59)), last = more.subset(at::arange(59, 60));
  const auto var = [&](const Fitted& one) { return one.ood(test).at("logit_var"); };
  const auto few = sampled_by("bll", {{"class_rows", 10}}, split);
  EXPECT_THROW(few->updated({}, last), std::invalid_argument);
  EXPECT_TRUE(at::allclose(var(*few->prior()->updated(more, {})->updated({}, last)),
                           var(*few->prior()->updated(kept, {})), 1e-5, 1e-10));
  const auto all = sampled_by("bll", json::object(), split);
  EXPECT_TRUE(at::allclose(var(*registry_row("bll").load(all->save())->updated(more, {})->updated({}, more)),
                           var(*all), 1e-7, 1e-10));
}

TEST(SampledPosterior, MoreRowsThanThereAreAreNoted) {
  const Split split = contract::toy_split();
  const auto notes = [&](double rows) {
    const auto fitted = sampled_by("bll", {{"subsample", rows}}, split);
    std::string text;
    for (const std::string& note : fitted->summary().notes) text += note;
    return text;
  };
  const int64_t n = split.train.size();
  EXPECT_NE(notes(1e6).find(fmt::format("all {} rows: fewer than --subsample 1000000", n)),
            std::string::npos);
  EXPECT_EQ(notes(static_cast<double>(n)).find("fewer than"), std::string::npos);
  const auto all = sampled_by("bll", {{"subsample", 1e6}}, split);  // holds every row
  EXPECT_NO_THROW(all->updated({}, split.train.subset(at::arange(0, 1))));
}

}  // namespace
}  // namespace slimbayes
