// rich-bll and bll around one network on real tables.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "slimbayes/data/table/table.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

class RichVariance : public testing::TestWithParam<const char*> {};

TEST_P(RichVariance, IsNotBelowBllsOnAnyTestRow) {  // R theorem 3.3
  const auto path = real_data(std::string(GetParam()) + ".csv.gz");
  if (!path) return;
  const Table table = read_table(*path);
  FitOptions fit;
  fit.target = "y";
  fit.method = "dnn";
  fit.options = {
      {"network", "mlp"}, {"hidden", 50}, {"blocks", 2}, {"parametrisation", "mup"}, {"steps", 1000}};
  fit.test_fraction = 0.2;
  fit.noise_folds = 0;
  const auto file = std::filesystem::path(testing::TempDir()) / (GetParam() + std::to_string(::getpid()));
  const Model dnn = fit_model(table, fit);
  dnn.save(file);
  const Examples test = take(table, dnn.split().test);
  const auto around = [&](const char* method) {
    FitOptions same;
    same.network_from = file.string();
    same.method = method;
    same.options = {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", 1.0}};
    return fit_model(table, with_network_from(same)).predict(test);
  };
  const Regression rich = around("rich-bll"), bll = around("bll");
  EXPECT_TRUE(at::equal(rich.mean, bll.mean));
  EXPECT_TRUE(at::equal(rich.aleatoric_var, bll.aleatoric_var));
  const at::Tensor ratio = rich.epistemic_var / bll.epistemic_var;
  EXPECT_GE(ratio.min().item<double>(), 1 - 1e-9);
  EXPECT_GT(ratio.max().item<double>(), 1.001);
  std::filesystem::remove(file);
}

class RichVarianceOfFewRows : public testing::TestWithParam<const char*> {};

/// Fits that differ in the method alone: noise and prior sd have their defaults, and few rows cross-fit the
/// noise.
TEST_P(RichVarianceOfFewRows, IsNotBelowBllsOnAnyNewRow) {
  const auto path = real_data(std::string(GetParam()) + ".csv.gz");
  if (!path) return;
  const Table table = read_table(*path);
  const at::Tensor order = Stream(1).permutation(table.rows);
  const auto part = [&](int64_t from, int64_t to) {
    const at::Tensor rows = order.slice(0, from, to).contiguous();
    return take(table, {rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.size(0)});
  };
  const Examples fresh = part(100, 300);
  for (const int64_t n : {30, 60, 100}) {
    const auto answer = [&](const char* method) {
      FitOptions fit;
      fit.target = "y";
      fit.method = method;
      fit.options = {{"steps", 300}};
      return fit_model(part(0, n), fit).predict(fresh);
    };
    const Regression rich = answer("rich-bll"), bll = answer("bll");
    EXPECT_TRUE(at::equal(rich.mean, bll.mean)) << n;
    EXPECT_TRUE(at::equal(rich.aleatoric_var, bll.aleatoric_var)) << n;
    EXPECT_GE((rich.epistemic_var / bll.epistemic_var).min().item<double>(), 1 - 1e-9) << n;
    EXPECT_GT((rich.epistemic_var / bll.epistemic_var).max().item<double>(), 1.001) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, RichVarianceOfFewRows,
                         testing::Values("boston", "concrete", "energy", "yacht", "wine_red", "power_plant"),
                         [](const auto& info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Tables, RichVariance,
                         testing::Values("boston", "concrete", "energy", "power_plant", "wine_red"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace slimbayes
