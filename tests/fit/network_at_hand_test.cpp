#include "slimbayes/fit/network_at_hand.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/storage/error.h"
#include "tests/fit/steps_tables.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

TEST(NetworkFrom, AFileWhoseNetworkIsForAnotherTaskIsRefused) {
  TensorFile file = fit_model(steps(200), small("dnn")).to_file();
  file.metadata["head"] = R"({"likelihood": "softmax", "outputs": 3, "noise_var": 0.0})";
  EXPECT_THROW(Model::from_file(file, "dnn"), DataError);
  file.metadata.erase("head");
  EXPECT_THROW(Model::from_file(file, "dnn"), DataError);  // of an earlier version
}

TEST(NetworkFrom, KeepsNetworkColumnsAndSplit) {
  const fs::path path = fs::path(testing::TempDir()) / ("network_from" + std::to_string(::getpid()));
  const Table rows = steps(300), test = steps(100, 2);
  FitOptions first = small("dnn");
  first.test_fraction = 0.2;
  const Model dnn = fit_model(rows, first);
  dnn.save(path);
  FitOptions around;
  around.method = "rich-bll";
  around.network_from = path.string();
  const FitOptions fit = with_network_from(around);
  EXPECT_EQ(fit.target, "y");
  const Model rich = fit_model(rows, fit);
  EXPECT_TRUE(at::equal(rich.predict(test).mean, dnn.predict(test).mean));
  EXPECT_EQ(rich.split().test, dnn.split().test);
  EXPECT_GT(rich.predict(test).epistemic_var.min().item<double>(), 0);
  around.method = "dbk";
  EXPECT_THROW(with_network_from(around), std::invalid_argument);
  fit_model(rows, small("vbll")).save(path);
  around.method = "rich-bll";
  EXPECT_THROW(with_network_from(around), std::invalid_argument);
  fs::remove(path);
}

}  // namespace
}  // namespace slimbayes
