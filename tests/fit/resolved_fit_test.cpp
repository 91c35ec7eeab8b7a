#include "slimbayes/fit/resolved_fit.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/fit_resolved.h"
#include "tests/data/tables.h"
#include "tests/fit/steps_tables.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

TEST(ResolveFit, TheTargetChoosesTheMethod) {
  FitOptions fit = small("");
  fit.options = nlohmann::json::object();
  const ResolvedFit numbers = resolve_fit(steps(40), fit);
  EXPECT_EQ(numbers.method->name, "auto");
  EXPECT_EQ(numbers.fit.method, "auto");
  EXPECT_TRUE(numbers.by_task);
  EXPECT_EQ(numbers.options, find_method("auto").resolve(nlohmann::json::object()));
  fit.likelihood = LikelihoodKind::poisson;
  EXPECT_EQ(resolve_fit(steps(40), fit).method->name, "auto");
  fit.likelihood = LikelihoodKind::cox;
  fit.target = "";
  fit.domain = "0:1";
  EXPECT_EQ(resolve_fit(steps(40), fit).method->name, "sv-rbf");
  fit = small("");
  EXPECT_FALSE(resolve_fit(steps(40), small("dnn")).by_task);
}

TEST(ResolveFit, PresetAndTuningNeedTheMethodAlone) {
  FitOptions fit = small("dbk");
  fit.options = {{"steps", 7}, {"alpha", 0.5}};
  const ResolvedFit paper = resolve_fit(steps(40), fit, {"paper", true});
  EXPECT_EQ(paper.options, preset_options(find_method("dbk"), "paper", fit.options));
  EXPECT_EQ(paper.options.at("steps"), 7);
  EXPECT_EQ(paper.fit.tune, std::vector<std::string>{"beta"});  // a flag sets alpha
}

TEST(ResolveFit, WhatIsOpenInTheOptionsIsDecided) {
  FitOptions fit = small("ensemble");
  fit.options = {{"of", "dbk"}};
  const ResolvedFit request = resolve_fit(steps(40), fit);
  EXPECT_EQ(request.inner->name, "dbk");
  EXPECT_EQ(request.scale, find_method("dbk").input_scale);
  EXPECT_EQ(request.kind, InputKind::table);
  EXPECT_EQ(request.network, nullptr);
  fit.scale = "min-max";
  EXPECT_EQ(resolve_fit(steps(40), fit).scale, "min-max");
}

TEST(ResolveFit, RefusesWhatTheDescriptionsForbid) {
  const auto refused = [](auto change) {
    FitOptions fit = small("ridge");
    change(fit);
    EXPECT_THROW(resolve_fit(steps(40), fit), std::invalid_argument);
  };
  refused([](FitOptions& fit) { fit.threads = 100000; });
  refused([](FitOptions& fit) { fit.threads = -2; });
  refused([](FitOptions& fit) { fit.level = 1; });
  refused([](FitOptions& fit) { fit.level = std::nan(""); });
  refused([](FitOptions& fit) { fit.window = -1; });
  refused([](FitOptions& fit) { fit.noise_folds = int64_t{1} << 40; });
  refused([](FitOptions& fit) { fit.valid_fraction = -0.1; });
  refused([](FitOptions& fit) { fit.calibrate = "conformall"; });
}

TEST(ResolveFit, TheNetworkAtHandKeepsItsOptions) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("resolved_fit" + std::to_string(::getpid()));
  fit_model(steps(60), small("dnn")).save(path);
  FitOptions fit = small("rich-bll");
  fit.options = {{"hidden", 99}};
  fit.network_from = path.string();
  const ResolvedFit request = resolve_fit(steps(60), with_network_from(fit), {"paper", false});
  ASSERT_NE(request.network, nullptr);
  EXPECT_EQ(request.options.at("hidden"), 16);
  EXPECT_EQ(request.options.at("steps"), 200);
  const Model around = fit_resolved(request, {Examples(steps(60)), nullptr});
  EXPECT_EQ(around.options().at("hidden"), 16);
  std::filesystem::remove(path);
}

TEST(ResolveFit, ARequestThatCannotBeFittedIsRefusedBeforeAnyWork) {
  const auto refused = [](FitOptions fit, const std::string& why) {
    expect_has(error_of([&] { resolve_fit(steps(40), fit); }), why);
  };
  FitOptions fit = small("dnn");
  fit.target = "z";
  refused(fit, "a target column 'z'");
  fit = small("dnn");
  fit.valid_fraction = 2;
  refused(fit, "fraction");
  fit = small("dnn");
  fit.options["stepz"] = 3;
  refused(fit, "stepz");
  fit = small("dnn");
  fit.crop = 2;
  refused(fit, "`.crop`, which belongs to 'Images'");
  fit = small("dnn");
  fit.categorical = {"x"};
  refused(fit, "a table that was read with 'x' as names");
}

/// Records how many threads a fit uses.
class ThreadWatcher : public Callback {
 public:
  void report(const Progress&) override { threads.insert(at::get_num_threads()); }
  std::set<int> threads;
};

// A network trains on one thread, because its short steps wait for each other on many threads beside other
// work. After the fit the caller's thread count is restored.
TEST(FitThreads, ANetworkTrainsOnOneAndTheCallersNumberComesBack) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const auto seen = [](FitOptions fit) {
    fit.noise_folds = 0;
    if (fit.method == "dnn") fit.options["steps"] = 5;
    ThreadWatcher watcher;
    fit_model(steps(40), fit, nullptr, &watcher);
    EXPECT_EQ(at::get_num_threads(), 2);
    return watcher.threads;
  };
  EXPECT_EQ(seen(small()), std::set<int>{1});
  EXPECT_EQ(seen(small("gp-exact")), std::set<int>{2});
  FitOptions own = small();
  own.threads = 3;
  EXPECT_EQ(seen(own), std::set<int>{3});
  own.threads = 0;
  EXPECT_EQ(seen(own), std::set<int>{2});
  at::set_num_threads(before);
}

}  // namespace
}  // namespace slimbayes
