// Posteriors of a sample of the rows (--subsample, --class-rows), and their shards.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
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
    const auto fitted = sampled_by(method, {{"subsample", 0.5}}, split);
    const ExactPosterior* sampled = fitted->exact_posterior();
    const auto updated_again = [&](const Fitted& one, const Dataset& drop) {
      return registry_row(method).load(one.save())->exact_posterior()->updated({}, drop);
    };
    EXPECT_THROW(sampled->updated({}, last), std::invalid_argument);
    EXPECT_THROW(updated_again(*sampled, last), std::invalid_argument);
    const auto shard = sampled->prior()->updated(more, {});
    const at::Tensor exact = var(*sampled->prior()->updated(kept, {}));
    EXPECT_TRUE(at::allclose(var(*shard->updated({}, last)), exact, 1e-8, 1e-14));
    EXPECT_TRUE(at::allclose(var(*updated_again(*shard, last)), exact, 1e-8, 1e-14));
    EXPECT_THROW(shard->merged(*sampled)->updated({}, last), std::invalid_argument);
    EXPECT_THROW(sampled->merged(*shard)->updated({}, last), std::invalid_argument);
  }
}

TEST(SampledPosterior, AShardForgetsThatHasMoreRowsOfAClassThanAFitTakes) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const Dataset more = contract::task_toy(LikelihoodKind::softmax, 60, 7),
                test = contract::task_toy(LikelihoodKind::softmax, 20, 9);
  const Dataset kept = more.subset(at::arange(0, 59)), last = more.subset(at::arange(59, 60));
  const auto var = [&](const Fitted& one) { return one.ood(test).at("logit_var"); };
  const auto few_rows = sampled_by("bll", {{"class_rows", 10}}, split);
  const ExactPosterior* few = few_rows->exact_posterior();
  EXPECT_THROW(few->updated({}, last), std::invalid_argument);
  EXPECT_TRUE(at::allclose(var(*few->prior()->updated(more, {})->updated({}, last)),
                           var(*few->prior()->updated(kept, {})), 1e-8, 1e-14));
  const auto all = sampled_by("bll", json::object(), split);
  const auto loaded = registry_row("bll").load(all->save());
  EXPECT_TRUE(at::allclose(var(*loaded->exact_posterior()->updated(more, {})->updated({}, more)), var(*all),
                           1e-8, 1e-14));
}

TEST(SampledPosterior, EachClassOfOneLogitKeepsItsRows) {
  // 90 rows of one class and 10 of the other: at most 20 of each leave the rare ones whole.
  const Split split = contract::task_split(LikelihoodKind::bernoulli);
  const at::Tensor y = split.train.all().target;
  const at::Tensor common = at::nonzero(y == 0).squeeze(1),
                   rare = at::nonzero(y == 1).squeeze(1).narrow(0, 0, 10);
  ASSERT_GE(common.size(0), 30);
  const Split uneven{split.train.subset(at::cat({common, rare})), split.valid};
  const auto network = sampled_by("dnn", json::object(), uneven)->network();
  const auto around = [&](int64_t most) {
    json options = kTinyNetwork;
    options.update({{"class_rows", most}, {"prior", "fixed"}, {"prior_sd", 10}});
    return registry_row("bll").make(options)->fit(uneven, {Stream(5), nullptr, {}, network});
  };
  const Dataset of_rare = split.train.subset(rare);
  const auto var = [&](const Fitted& one) { return one.ood(of_rare).at("logit_var").mean().item<double>(); };
  EXPECT_LT(var(*around(20)), 2 * var(*around(1000)));
}

TEST(SampledPosterior, RowsLearnedAtOnceAreForgottenOneByOne) {
  const Split split = contract::toy_split(), classes = contract::task_split(LikelihoodKind::softmax);
  const auto check = [](const Fitted& before, const Dataset& more, const auto& var) {
    auto one_by_one = before.exact_posterior()->updated(more, {});
    for (int64_t i = 0; i < more.size(); ++i)
      one_by_one = one_by_one->updated({}, more.subset(at::arange(i, i + 1)));
    EXPECT_TRUE(at::allclose(var(*one_by_one), var(before), 1e-8, 1e-14));
  };
  const Dataset test = contract::toy(30, 9),
                test_of_classes = contract::task_toy(LikelihoodKind::softmax, 30, 9);
  for (const char* method : {"bll", "rich-bll"})
    check(*sampled_by(method, {{"noise", "mse"}}, split), contract::toy(80, 7),
          [&](const Fitted& one) { return answer(one, test).epistemic_var; });
  for (const char* structure : {"full", "kronecker"})
    check(*sampled_by("last-layer-laplace", {{"structure", structure}}, classes),
          contract::task_toy(LikelihoodKind::softmax, 80, 7),
          [&](const Fitted& one) { return one.ood(test_of_classes).at("logit_var"); });
}

TEST(SampledPosterior, ANetworkOfAnotherTaskIsRefused) {
  const Split classes = contract::task_split(LikelihoodKind::bernoulli);
  const Split numbers = contract::toy_split(classes.train.schema.input.width());
  const auto of_numbers = sampled_by("dnn", json::object(), numbers)->network(),
             of_classes = sampled_by("dnn", json::object(), classes)->network();
  for (const char* method : {"dnn", "bll", "rich-bll", "last-layer-laplace", "swag"}) {
    const auto row = registry_row(method).make(kTinyNetwork);
    EXPECT_THROW(row->fit(classes, {Stream(5), nullptr, {}, of_numbers}), std::invalid_argument) << method;
    EXPECT_THROW(row->fit(numbers, {Stream(5), nullptr, {}, of_classes}), std::invalid_argument) << method;
  }
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
  EXPECT_NE(notes(1e6).find(fmt::format("all {} rows: fewer than `.subsample=1000000`", n)),
            std::string::npos);
  EXPECT_EQ(notes(static_cast<double>(n)).find("fewer than"), std::string::npos);
  const auto all = sampled_by("bll", {{"subsample", 1e6}}, split);  // holds every row
  EXPECT_NO_THROW(all->exact_posterior()->updated({}, split.train.subset(at::arange(0, 1))));
}

}  // namespace
}  // namespace slimbayes
