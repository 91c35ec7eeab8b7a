// bll, rich-bll and ntk-gp against their formulas with an explicit Jacobian.
#include "slimbayes/methods/last_layer/last_layer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "tests/methods/contract.h"
#include "tests/methods/small_network.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

TEST(RichBll, VarianceIsTheDenseOneOfItsFeatures) {  // R theorems 3.1 and 3.2
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(30, 9);
  const auto fitted = around(
      "rich-bll", {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", 0.7}, {"ridge", 0}}, split, network);
  const Regression p = answer(*fitted, data);
  const Jacobian train = jacobian_of(*network, split.train.all().inputs[0]),
                 test = jacobian_of(*network, data.all().inputs[0]);
  const double noise = network->head.noise_var;
  EXPECT_DOUBLE_EQ(p.aleatoric_var[0].item<double>(), noise);
  // A by least squares, then the kernel of the features B phi_r with B = (A; I), dense.
  const at::Tensor a = at::linalg_pinv(train.last).mm(train.earlier);  // [r, m], A^T
  const auto features = [&](const Jacobian& j) { return 0.7 * at::cat({j.last.mm(a), j.last}, 1); };
  const at::Tensor f = features(train), g = features(test);
  const at::Tensor k = f.mm(f.t()) + noise * at::eye(f.size(0), at::kDouble), cross = g.mm(f.t());
  const at::Tensor dense = g.mm(g.t()) - cross.mm(at::linalg_solve(k, cross.t()));
  EXPECT_LT((p.epistemic_var / dense.diagonal() - 1).abs().max().item<double>(), 1e-3);  // float32 network
}

TEST(RichBll, IsNeverBelowBll) {  // R theorem 3.3, which asks for equal noise and prior sd
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset near = contract::toy(200, 9);
  const Dataset far = contract::changed(near, [](Batch& b) { b.inputs[0] = 5 * b.inputs[0]; });
  const json given = {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", 1.0}};
  for (const json& options : {given, json::object()}) {  // by default both are chosen, alike for the two
    const auto rich = around("rich-bll", options, split, network),
               bll = around("bll", options, split, network);
    for (const Dataset& data : {near, far}) {
      const Regression a = answer(*rich, data), b = answer(*bll, data);
      EXPECT_TRUE(at::equal(a.mean, b.mean)) << options;
      EXPECT_TRUE(at::equal(a.aleatoric_var, b.aleatoric_var)) << options;
      EXPECT_TRUE((a.epistemic_var >= b.epistemic_var * (1 - 1e-9)).all().item<bool>()) << options;
      EXPECT_GT((a.epistemic_var / b.epistemic_var).max().item<double>(), 1.01) << options;
    }
  }
}

TEST(RichBll, KeepsTheMeanOfTheNetwork) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(50, 9);
  const auto dnn = around("dnn", json::object(), split, network);
  for (const char* method : {"rich-bll", "bll"})
    EXPECT_TRUE(at::equal(answer(*around(method, json::object(), split, network), data).mean,
                          answer(*dnn, data).mean));
  EXPECT_TRUE(at::allclose(answer(*around("ntk-gp", json::object(), split, network), data).mean,
                           answer(*dnn, data).mean, 1e-5, 1e-5));  // float64 there
}

TEST(RichBll, ASubsampleOfAllRowsIsAllRows) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(50, 9);
  const auto n = static_cast<double>(split.train.size());
  const Regression all = answer(*around("rich-bll", json::object(), split, network), data);
  for (double subsample : {n, 10 * n, 1 - 1e-9})
    EXPECT_TRUE(
        at::equal(answer(*around("rich-bll", {{"subsample", subsample}}, split, network), data).epistemic_var,
                  all.epistemic_var));
  const auto half = around("rich-bll", {{"subsample", 0.5}}, split, network);
  const at::Tensor ratio = answer(*half, data).epistemic_var / all.epistemic_var;
  EXPECT_GT(ratio.mean().item<double>(), 0.5);
  EXPECT_LT(ratio.mean().item<double>(), 2);
}

TEST(RichBll, ASmallSubsampleIsRefusedOrNoted) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);  // 12 features and a constant
  EXPECT_THROW(around("rich-bll", {{"subsample", 12}}, split, network), std::invalid_argument);
  const auto noted = [&](int64_t rows) {
    const auto fitted = around("rich-bll", {{"subsample", rows}}, split, network);
    return std::ranges::any_of(fitted->summary().notes, [](const std::string& note) {
      return note.find("rows for 13 features") != std::string::npos;
    });
  };
  EXPECT_TRUE(noted(20));
  EXPECT_FALSE(noted(39));
}

TEST(RichBll, FewerRowsThanFeaturesAndDeadUnitsGiveASaneVariance) {
  const Split split{contract::toy(9, 1), contract::toy(5, 2)};
  TrainedNetwork dead = *small_network(contract::toy_split());
  dead.weights["network.2.weight"].select(0, 3).zero_();  // a unit that is tanh(bias) everywhere
  const auto network = std::make_shared<TrainedNetwork>(std::move(dead));
  const Dataset data = contract::toy(50, 9);
  const Regression rich = answer(
      *around("rich-bll", {{"prior", "fixed"}, {"prior_sd", 1.0}, {"noise", "mse"}}, split, network), data);
  const Regression bll =
      answer(*around("bll", {{"prior", "fixed"}, {"prior_sd", 1.0}, {"noise", "mse"}}, split, network), data);
  EXPECT_TRUE(at::isfinite(rich.epistemic_var).all().item<bool>());
  EXPECT_TRUE((rich.epistemic_var >= bll.epistemic_var * (1 - 1e-9)).all().item<bool>());
}

TEST(RichBll, RefitChoosesOnceAndTrainsOnAllRows) {
  const Split split = contract::toy_split();
  json options = kSmallNetwork;
  options["refit"] = true;
  const auto fitted = registry_row("rich-bll").make(options)->fit(split, {Stream(5)});
  EXPECT_EQ(fitted->summary().rows, split.train.size() + split.valid.size());
  const Dataset data = contract::toy(100, 9);
  EXPECT_LT(rmse(*fitted, data),
            1.2 * rmse(*around("dnn", json::object(), split, small_network(split)), data));
}

TEST(RichBll, AroundARefittedNetworkTheValidationRowsCountToo) {
  const Split split = contract::toy_split();
  const Dataset data = contract::toy(100, 9);
  json paper = kSmallNetwork;
  paper.update({{"refit", true}, {"noise", "mse"}, {"prior", "fixed"}, {"subsample", 0.9}});
  const auto whole = registry_row("rich-bll").make(paper)->fit(split, {Stream(5)});
  const std::shared_ptr<const TrainedNetwork> network = whole->network();
  // Sharing a refitted network gives the answers of a refit of its own, in the same bits.
  for (const char* method : {"rich-bll", "bll"}) {
    const Regression own = answer(*registry_row(method).make(paper)->fit(split, {Stream(5)}), data),
                     shared = answer(*around(method, paper, split, network), data);
    EXPECT_TRUE(at::equal(own.mean, shared.mean)) << method;
    EXPECT_TRUE(at::equal(own.epistemic_var, shared.epistemic_var)) << method;
    EXPECT_TRUE(at::equal(own.aleatoric_var, shared.aleatoric_var)) << method;
  }
  // The noise is the validation error of the network that had not seen these rows.
  EXPECT_EQ(network->head.noise_var, small_network(split)->head.noise_var);
  EXPECT_EQ(answer(*around("dnn", json::object(), split, network), data).aleatoric_var[0].item<double>(),
            network->head.noise_var);
  for (const json& chosen : {json{{"noise", "select"}}, json{{"prior", "select"}}}) {
    json options = paper;
    options.update(chosen);
    EXPECT_THROW(around("rich-bll", options, split, network), std::invalid_argument) << chosen;
    options["select"] = "evidence";
    EXPECT_NO_THROW(around("rich-bll", options, split, network)) << chosen;
  }
}

/// Stops the fit when more than `stages` stages have begun.
class StopAtStage : public Callback {
 public:
  explicit StopAtStage(int stages) : stages_(stages) {}
  void stage(const std::string&) override { ++begun; }
  bool stop() override { return begun > stages_ && ++steps > 3; }
  int begun = 0, steps = 0;

 private:
  int stages_;
};

TEST(RichBll, InterruptedInTheRefitItResumesInTheSameBits) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("rich_bll" + std::to_string(::getpid()));
  fs::create_directories(folder);
  for (const char* method : {"rich-bll", "swag"}) {
    json options = kSmallNetwork;
    if (std::string(method) == "rich-bll") options["refit"] = true;
    const auto fit = [&](const FitContext& context) {
      return registry_row(method).make(options)->fit(contract::toy_split(), context);
    };
    const auto whole = fit({Stream(7)});
    for (int stages : {0, 1}) {
      FitContext context{Stream(7), nullptr, {folder / "m.ckpt", false, "print"}};
      StopAtStage impatient(stages);
      context.callback = &impatient;
      EXPECT_EQ(fit(context)->summary().stopped, Stopped::interrupted);
      context.callback = nullptr;
      context.checkpoint.resume = true;
      EXPECT_EQ(to_bytes(fit(context)->save()), to_bytes(whole->save())) << method << stages;
      fs::remove_all(folder);
      fs::create_directories(folder);
    }
  }
  fs::remove_all(folder);
}

TEST(NtkGp, IsTheDensePosteriorOfAllGradients) {
  const Split split{contract::toy(40, 1), contract::toy(20, 2)};
  const auto network = small_network(split);
  const Dataset data = contract::toy(30, 9);
  const Regression p = answer(
      *around("ntk-gp", {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", 0.7}}, split, network), data);
  const Jacobian train = jacobian_of(*network, split.train.all().inputs[0]),
                 test = jacobian_of(*network, data.all().inputs[0]);
  const at::Tensor f = 0.7 * at::cat({train.earlier, train.last}, 1),
                   g = 0.7 * at::cat({test.earlier, test.last}, 1);
  const at::Tensor k = f.mm(f.t()) + network->head.noise_var * at::eye(f.size(0), at::kDouble);
  const at::Tensor dense = g.mm(g.t()) - g.mm(f.t()).mm(at::linalg_solve(k, f.mm(g.t())));
  EXPECT_LT((p.epistemic_var / dense.diagonal() - 1).abs().max().item<double>(), 1e-6);
}

TEST(RichBll, ClassesHaveAPosteriorPerLogit) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const auto rich = registry_row("rich-bll").make(kSmallNetwork)->fit(split, {Stream(5)});
  const auto dnn = registry_row("dnn").make(kSmallNetwork)->fit(split, {Stream(5)});
  const Dataset data = contract::task_toy(LikelihoodKind::softmax, 300, 9);
  const auto a = std::get<Classes>(rich->predict(data)), b = std::get<Classes>(dnn->predict(data));
  EXPECT_LT(class_nll(a, data.all().target), class_nll(b, data.all().target) + 0.05);
  EXPECT_GT(mutual_information(a).mean().item<double>(), 0);
  EXPECT_EQ(mutual_information(b).abs().max().item<double>(), 0);
}

TEST(Swag, SpreadsAroundTheAverage) {
  const Split split = contract::toy_split();
  const auto swag = around("swag", {{"averaged", 10}, {"swag_rate", 0.01}}, split, small_network(split));
  const Dataset data = contract::toy(100, 9);
  const Regression p = answer(*swag, data);
  EXPECT_GT(p.epistemic_var.min().item<double>(), 0);
  EXPECT_LT(rmse(*swag, data), 1.2 * rmse(*around("dnn", json::object(), split, small_network(split)), data));
}

TEST(McDropout, NeedsDropout) {
  json options = kSmallNetwork;
  options["dropout"] = 0.0;
  const Split split = contract::toy_split();
  EXPECT_THROW(registry_row("mc-dropout").make(options)->fit(split, {Stream(5)}), std::invalid_argument);
  EXPECT_THROW(around("mc-dropout", json::object(), split, small_network(split)), std::invalid_argument);
}

TEST(TrainedNetwork, OfOtherDataIsRefused) {
  const auto network = small_network(contract::toy_split());
  const Split other = contract::toy_split(3);
  for (const char* method : {"dnn", "bll", "rich-bll", "ntk-gp", "swag"})
    EXPECT_THROW(around(method, json::object(), other, network), std::invalid_argument) << method;
  const Split classes = contract::task_split(LikelihoodKind::softmax);
  EXPECT_THROW(around("bll", json::object(), classes, network), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
