#include "slimbayes/fit/noise_series.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/train/checkpoint.h"
#include "tests/data/tables.h"
#include "tests/fit/steps_tables.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

/// Stops a fit when the given stage begins. Records the stages.
class StageWatcher : public Callback {
 public:
  explicit StageWatcher(std::string last = "") : last_(std::move(last)) {}
  void stage(const std::string& name) override {
    stages.push_back(name);
    stop_ = stop_ || name == last_;
  }
  bool stop() override { return stop_; }

  std::vector<std::string> stages;

 private:
  std::string last_;
  bool stop_ = false;
};

class NoiseFoldFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("noise_folds" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  Model fitted(const FitOptions& fit, Callback* callback, bool resume) const {
    return fit_model(steps(30), fit, nullptr, callback, {folder_ / "m.ckpt", resume, "print", 0});
  }
  fs::path folder_;
};

TEST_F(NoiseFoldFiles, InterruptedAndResumedItEndsInTheSameBits) {
  FitOptions tuned = small("dbk");
  tuned.options["rank"] = 8;
  tuned.tune = {"beta"};
  for (FitOptions fit : {small(), small("gp-exact"), tuned}) {
    if (fit.method != "gp-exact") fit.options["steps"] = 30;
    const Model whole = fit_model(steps(30), fit);
    StageWatcher impatient("fold 3/5");
    const Model part = fitted(fit, &impatient, false);
    EXPECT_TRUE(part.interrupted()) << fit.method;
    EXPECT_EQ(part.noise().folds, 2);
    EXPECT_TRUE(at::equal(part.predict(steps(30)).mean, whole.predict(steps(30)).mean));
    StageWatcher watcher;
    const Model rest = fitted(fit, &watcher, true);
    EXPECT_EQ(watcher.stages, (std::vector<std::string>{"fold 3/5", "fold 4/5", "fold 5/5"})) << fit.method;
    EXPECT_FALSE(rest.interrupted());
    EXPECT_EQ(to_bytes(rest.to_file()), to_bytes(whole.to_file())) << fit.method;
    remove_checkpoint(folder_ / "m.ckpt");
    EXPECT_TRUE(fs::is_empty(folder_));
  }
}

TEST_F(NoiseFoldFiles, InterruptedInAFoldItKeepsTheLaterOnesThatAreFinished) {
  const Model whole = fitted(small("gp-exact"), nullptr, false);
  fs::remove(folder_ / "m.ckpt.1");
  StageWatcher impatient("fold 1/5");
  const Model part = fitted(small("gp-exact"), &impatient, true);
  EXPECT_EQ(impatient.stages, std::vector<std::string>{"fold 1/5"});
  EXPECT_TRUE(part.interrupted());
  EXPECT_EQ(part.noise().folds, 4);
  EXPECT_EQ(part.noise().rows, whole.noise().rows * 4 / 5);
  EXPECT_EQ(to_bytes(fitted(small("gp-exact"), nullptr, true).to_file()), to_bytes(whole.to_file()));
}

TEST_F(NoiseFoldFiles, FoldsThatFollowAFitInDoubtAreResumedToo) {
  const Split parts = in_doubt();
  const auto with = [&](Callback* callback, bool resume) {
    return vbll_with_folds(parts, {Stream(1), callback, {folder_ / "m.ckpt", resume, "print", 0}});
  };
  const CrossFitted whole = vbll_with_folds(parts, {Stream(1)});
  StageWatcher impatient("fold 2/5");
  EXPECT_TRUE(with(&impatient, false).noise.interrupted);
  StageWatcher watcher;
  const CrossFitted rest = with(&watcher, true);
  EXPECT_EQ(watcher.stages, (std::vector<std::string>{"fold 2/5", "fold 3/5", "fold 4/5", "fold 5/5"}));
  EXPECT_EQ(to_json(rest.noise), to_json(whole.noise));
  EXPECT_EQ(to_bytes(rest.main.fitted->save()), to_bytes(whole.main.fitted->save()));
}

// The checkpoints of a fit's parts have the names of the folds'. One that is left must not stand for a fold.
TEST_F(NoiseFoldFiles, PartsOfAResumedMainFitAreNotTakenForFolds) {
  FitOptions fit = small("swag");
  fit.options["steps"] = 300;
  fit.options["averaged"] = 3;
  Table table = steps(300);
  Column& y = table.columns[1];  // the validation rows lie far from what the others say
  ASSERT_EQ(y.name, "y");
  const Model first = fit_model(table, fit);
  for (int64_t row : first.split().valid) y.values[static_cast<size_t>(row)] += 5;
  const auto with = [&](Callback* callback, bool resume) {
    return fit_model(table, fit, nullptr, callback, {folder_ / "m.ckpt", resume, "print", 0});
  };
  const Model whole = fit_model(table, fit);
  ASSERT_EQ(whole.noise().folds, 5);
  StageWatcher impatient("2/2");
  with(&impatient, false);
  const Model rest = with(nullptr, true);
  EXPECT_EQ(rest.noise().notes, whole.noise().notes);
  EXPECT_EQ(to_bytes(rest.to_file()), to_bytes(whole.to_file()));
}

TEST_F(NoiseFoldFiles, InterruptedInTheMainFitItAnswersWithIt) {
  FitOptions fit = small("ensemble");
  fit.options = {{"of", "dnn"}, {"members", 2}, {"steps", 30}, {"hidden", 16}, {"blocks", 1}};
  StageWatcher impatient("2/2");
  const Model part = fitted(fit, &impatient, false);
  EXPECT_TRUE(part.interrupted());
  EXPECT_EQ(part.noise().folds, 0);
  expect_has(part.noise().notes.at(0), "the sd may be far too small; the fit was interrupted");
  EXPECT_EQ(to_bytes(fitted(fit, nullptr, true).to_file()), to_bytes(fit_model(steps(30), fit).to_file()));
}

}  // namespace
}  // namespace slimbayes
