// How the answers of each method follow from the outputs of its network.
#include "slimbayes/model/model_networks.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/nn/network.h"
#include "tests/data/tables.h"
#include "tests/fit/steps_tables.h"

namespace slimbayes {
namespace {

/// Returns a model of numbers.
Model model_of_numbers(const std::string& method, const nlohmann::json& more = nlohmann::json::object()) {
  FitOptions fit = small(method);
  fit.options["steps"] = 40;
  fit.options.update(more);
  return fit_model(steps(120), fit);
}

/// Returns a model of three classes, each of 40 values of x.
Model model_of_classes(const std::string& method) {
  std::vector<double> x, y;
  for (int i = 0; i < 120; ++i) {
    x.push_back(i);
    y.push_back(i / 40);
  }
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.options = {{"steps", 40}, {"hidden", 8}, {"blocks", 1}};
  return fit_model(table_of({numbers("x", x), categories("y", y, {"a", "b", "c"})}), fit);
}

/// Returns the largest difference between the answers' means and the network's outputs on some rows, in the
/// units of the encoded target.
double gap(const Model& model) {
  const at::NoGradGuard no_grad;
  const ModelNetwork network = networks_of(model).at(0);
  const Table table = steps(30, 5);
  const Dataset rows = dataset_of(model.encoder(), table, /*with_target=*/false);
  const Network net(network.file.spec, "network");
  const at::Tensor z = net(input_of(rows.all(), at::kDouble), mean_weights(network)).squeeze(1);
  const Task& task = rows.schema.task;
  return ((model.predict(table).mean - task.y_shift) / task.y_scale - z).abs().max().item<double>();
}

TEST(ModelNetworks, ANetworkWithoutAPosteriorAnswersAlone) {
  for (const char* method : {"dnn", "bll", "last-layer-laplace"}) {
    const Model model = model_of_numbers(method);
    const ModelNetwork network = networks_of(model).at(0);
    EXPECT_TRUE(network.answers) << method;
    EXPECT_FALSE(network.averaged) << method;
    EXPECT_LT(gap(model), 1e-4) << method;
  }
}

TEST(ModelNetworks, APosteriorMeanIsNotTheNetworksAnswer) {
  for (const char* method : {"bll", "rich-bll"}) {
    const Model model = model_of_numbers(method, {{"mean", "posterior"}});
    const ModelNetwork network = networks_of(model).at(0);
    EXPECT_FALSE(network.answers) << method;
    EXPECT_GT(gap(model), 1e-3) << method;
  }
}

TEST(ModelNetworks, PosteriorsOfClassesAverageOverLogits) {
  for (const char* method : {"bll", "last-layer-laplace"}) {
    const ModelNetwork network = networks_of(model_of_classes(method)).at(0);
    EXPECT_TRUE(network.answers) << method;
    EXPECT_TRUE(network.averaged) << method;
  }
  EXPECT_FALSE(networks_of(model_of_classes("dnn")).at(0).averaged);
}

TEST(ModelNetworks, DrawsAndMembersAreAveraged) {
  for (const char* method : {"mc-dropout", "bbb"}) {
    const ModelNetwork network = networks_of(model_of_numbers(method)).at(0);
    EXPECT_TRUE(network.answers && network.averaged) << method;
  }
  const Model ensemble = model_of_numbers("ensemble", {{"of", "bll"}, {"members", 2}, {"mean", "posterior"}});
  for (const ModelNetwork& member : networks_of(ensemble)) EXPECT_TRUE(member.averaged && !member.answers);
  EXPECT_EQ(networks_of(ensemble).size(), 2u);
}

}  // namespace
}  // namespace slimbayes
