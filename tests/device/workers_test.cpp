// How many fits run beside each other, by what their methods compute on.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "slimbayes/fit/resolved_fit.h"
#include "tests/fit/steps_tables.h"

namespace slimbayes {
namespace {

FitOptions on_simulated(const std::string& method) {
  FitOptions fit = small(method);
  if (method != "dnn") fit.options = nlohmann::json::object();
  fit.threads = 3;
  fit.device = "simulated";
  return fit;
}

TEST(DeviceWorkers, AreOneWhereAMethodComputesThere) {
  const FitOptions fit = on_simulated("dnn");
  const nlohmann::json none = nlohmann::json::object();
  EXPECT_EQ(fit_workers(fit, {{"dnn", none}}), 1);
  EXPECT_EQ(fit_workers(fit, {{"", none}}), 1);  // the default of a task
  EXPECT_EQ(fit_workers(fit, {{"extra-trees", none}}), 3);
  EXPECT_EQ(fit_workers(fit, {{"extra-trees", none}, {"ridge", none}}), 3);
  EXPECT_EQ(fit_workers(fit, {{"ridge", none}, {"dnn", none}}), 1);
  FitOptions more = fit;
  more.workers = 2;
  EXPECT_EQ(fit_workers(more, {{"dnn", none}}), 2);
  more = fit;
  more.device = "cpu";
  EXPECT_EQ(fit_workers(more, {{"dnn", none}}), 3);
}

TEST(DeviceWorkers, OfARequestFollowItsMethod) {
  EXPECT_EQ(resolve_fit(steps(40), on_simulated("dnn")).workers, 1);
  EXPECT_EQ(resolve_fit(steps(40), on_simulated("extra-trees")).workers, 3);
}

}  // namespace
}  // namespace slimbayes
