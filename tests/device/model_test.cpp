// A fitted model on the simulated device: from the request to answers, scores, updates and the file.
#include "slimbayes/model/model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "slimbayes/fit/fit_model.h"
#include "tests/device/simulated/simulated.h"
#include "tests/fit/steps_tables.h"
#include "tests/methods/once.h"

namespace slimbayes {
namespace {

FitOptions short_fit(const std::string& method, const std::string& device) {
  FitOptions fit = small(method);
  fit.options["steps"] = 20;
  if (method == "bbb" || method == "low-rank") {
    fit.options["draws"] = 5;
    fit.noise_folds = 0;
  }
  if (method == "ensemble") fit.options = {{"of", "dnn"}, {"members", 2}, {"steps", 20}};
  fit.device = device;
  return fit;
}

at::Tensor numbers_of(const Regression& p) { return at::stack({p.mean, p.aleatoric_var, p.epistemic_var}); }

/// Returns whether two tensors differ by less than the rounding of a short training by two executions: the
/// engine on the CPU, libtorch on the device.
bool alike(const at::Tensor& a, const at::Tensor& b) {
  return at::allclose(a, b, 0, 1e-3 * a.abs().max().item<double>());
}

class DeviceModel : public testing::TestWithParam<const char*> {};

TEST_P(DeviceModel, AnswersLikeThatOfTheCpuWhereverItIs) {
  const Table rows = steps(90), fresh = steps(20, 2);
  const Model here = fit_model(rows, short_fit(GetParam(), "cpu")),
              there = fit_model(rows, short_fit(GetParam(), "simulated"));
  ASSERT_EQ(there.device(), simulated::device());
  const Regression own = here.predict(fresh);
  Regression got;
  EXPECT_GT(simulated::work_of([&] { got = there.predict(fresh); }).kernels, 0);
  EXPECT_TRUE(alike(numbers_of(own), numbers_of(got))) << numbers_of(own) << numbers_of(got);
  EXPECT_NEAR(here.evaluate(fresh).nll, there.evaluate(fresh).nll, 0.01);
  const Scores scores = here.ood(fresh), others = there.ood(fresh);
  ASSERT_EQ(scores.size(), others.size());
  for (const auto& [name, score] : scores) EXPECT_TRUE(alike(score, others.at(name))) << name;

  const Model moved = there.on("cpu"), opened = Model::from_file(there.to_file(), "m");
  for (const Model* one : {&moved, &opened}) {
    Regression on_host;
    EXPECT_EQ(simulated::work_of([&] { on_host = one->predict(fresh); }), simulated::Counters());
    EXPECT_TRUE(alike(numbers_of(own), numbers_of(on_host)));
  }
  EXPECT_TRUE(alike(numbers_of(own), numbers_of(opened.on("simulated:1").predict(fresh))));
}

INSTANTIATE_TEST_SUITE_P(Methods, DeviceModel,
                         testing::Values("dnn", "bll", "rich-bll", "dbk", "dbk-exact", "bbb", "low-rank",
                                         "ensemble"),
                         [](const auto& info) { return contract::test_name(info.param); });

TEST(DeviceModelUpdates, AreThoseOfTheCpu) {
  const Table rows = steps(90), more = steps(30, 3), fresh = steps(20, 2);
  FitOptions own = short_fit("dbk-exact", "cpu"), other = short_fit("dbk-exact", "simulated");
  own.noise_folds = other.noise_folds = 0;
  const Model here = fit_model(rows, own).with(more), there = fit_model(rows, other).with(more);
  EXPECT_TRUE(alike(numbers_of(here.predict(fresh)), numbers_of(there.predict(fresh))));
  EXPECT_TRUE(
      alike(numbers_of(there.without(more).predict(fresh)), numbers_of(fit_model(rows, own).predict(fresh))));
}

}  // namespace
}  // namespace slimbayes
