#include "slimbayes/fit/tuning.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/check.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/train/checkpoint.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kBoth = {"alpha", "beta"};

json small_dbk(json more = json::object()) {
  json options = {{"steps", 40}, {"rank", 8}, {"hidden", 8}, {"blocks", 1}};
  options.update(more);
  return find_method("dbk").resolve(options);
}

Tuned tuned(const std::vector<std::string>& names = {"beta"}, const FitContext& context = {Stream(7)}) {
  return tune(find_method("dbk"), small_dbk(), names, contract::toy_split(), context);
}

/// Stops when more than `stages` fits have begun. Counts the fits and keeps the notes.
class StageCounter : public Callback {
 public:
  explicit StageCounter(int stages = 1000) : stages_(stages) {}
  void stage(const std::string&) override { ++begun; }
  void note(const std::string& sentence) override { notes.push_back(sentence); }
  bool stop() override { return begun > stages_; }

  int begun = 0;
  std::vector<std::string> notes;

 private:
  int stages_;
};

TEST(Tune, TriesTheWholeGridAndKeepsTheLeastNll) {
  Tuned best = tuned(kBoth);
  ASSERT_EQ(best.report->tried.size(), 16u);
  double least = INFINITY;
  TriedOptions chosen;
  std::set<std::pair<double, double>> seen;
  for (const TriedOptions& entry : best.report->tried) {
    seen.emplace(entry.options["alpha"].get<double>(), entry.options["beta"].get<double>());
    if (entry.valid_nll.value() < least) {
      least = *entry.valid_nll;
      chosen = entry;
    }
  }
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(best.report->best, chosen);
  EXPECT_EQ(best.options["alpha"], chosen.options["alpha"]);
  EXPECT_EQ(best.options["beta"], chosen.options["beta"]);
  EXPECT_FALSE(best.report->interrupted);
  Dataset valid = contract::toy_split().valid;
  EXPECT_EQ(regression_nll(std::get<Regression>(best.fitted->predict(valid)), valid.all().target), least);
}

TEST(Tune, TheBestIsTheFitWithItsOptionsBitForBit) {
  Tuned best = tuned();
  auto alone = registry_row("dbk").make(best.options)->fit(contract::toy_split(), {Stream(7)});
  EXPECT_EQ(to_bytes(alone->save()), to_bytes(best.fitted->save()));
}

TEST(Tune, RefusesACombinationBeforeTheFirstFit) {
  const MethodInfo& exact = find_method("dbk-exact");
  json options = exact.resolve({{"basis", "rbf"}, {"steps", 5}, {"hidden", 8}, {"blocks", 1}});
  StageCounter watcher;
  EXPECT_THROW(tune(exact, options, {"alpha"}, contract::toy_split(), {Stream(7), &watcher}),
               std::invalid_argument);
  EXPECT_EQ(watcher.begun, 0);
}

TEST(Tune, RefusesWhatCannotBeTuned) {
  EXPECT_THROW(tuned({}), std::invalid_argument);
  EXPECT_THROW(tuned({"steps"}), std::invalid_argument);
  EXPECT_THROW(tuned({"gamma"}), std::invalid_argument);
  Split split = contract::toy_split();
  split.valid = contract::toy(0, 1);
  try {
    tune(find_method("dbk"), small_dbk(), {"beta"}, split, {Stream(7)});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("validation rows"), std::string::npos) << error.what();
  }
}

class TuneFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tuning" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  FitContext context(Callback* callback, bool resume) const {
    return {Stream(7), callback, {folder_ / "m.ckpt", resume, "print"}};
  }
  fs::path folder_;
};

TEST_F(TuneFiles, EveryTryIsTold) {
  StageCounter watcher;
  tuned({"beta"}, context(&watcher, false));
  EXPECT_EQ(watcher.begun, 4);
  ASSERT_EQ(watcher.notes.size(), 4u);
  EXPECT_TRUE(watcher.notes[1].starts_with("tried 2 of 4: beta 0.01: validation NLL ")) << watcher.notes[1];
}

TEST_F(TuneFiles, InterruptedAndResumedItEndsInTheSameBits) {
  Tuned whole = tuned();
  StageCounter impatient(2);  // stops within the third fit
  Tuned part = tuned({"beta"}, context(&impatient, false));
  EXPECT_TRUE(part.report->interrupted);
  EXPECT_EQ(part.report->tried.size(), 2u);
  ASSERT_TRUE(fs::exists(folder_ / "m.ckpt"));
  StageCounter watcher;
  Tuned rest = tuned({"beta"}, context(&watcher, true));
  EXPECT_EQ(watcher.begun, 2);  // finished fits are not repeated
  EXPECT_EQ(rest.report, whole.report);
  EXPECT_EQ(rest.options, whole.options);
  EXPECT_EQ(to_bytes(rest.fitted->save()), to_bytes(whole.fitted->save()));
  EXPECT_TRUE(fs::exists(folder_ / "m.ckpt.3"));  // the results, until the model is written
  remove_parts(folder_ / "m.ckpt");
  for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path().filename(), "m.ckpt");
  FitContext other = context(nullptr, true);
  other.checkpoint.fingerprint = "another";
  EXPECT_THROW(tuned({"beta"}, other), std::invalid_argument);
}

TEST_F(TuneFiles, InterruptedInTheFirstItKeepsTheLaterOnesThatAreFinished) {
  const Tuned whole = tuned({"beta"}, context(nullptr, false));
  fs::remove(folder_ / "m.ckpt.0");
  StageCounter impatient(0);
  const Tuned part = tuned({"beta"}, context(&impatient, true));
  EXPECT_EQ(impatient.begun, 1);
  EXPECT_TRUE(part.report->interrupted);
  const std::vector<TriedOptions>& all = whole.report->tried;
  EXPECT_EQ(part.report->tried, std::vector<TriedOptions>(all.begin() + 1, all.end()));
  EXPECT_EQ(part.report->best, std::ranges::min(part.report->tried, {}, [](const TriedOptions& one) {
              return one.valid_nll.value();
            }));
  EXPECT_EQ(part.fitted->summary().stopped, whole.fitted->summary().stopped);
  EXPECT_EQ(tuned({"beta"}, context(nullptr, true)).report, whole.report);
}

TEST_F(TuneFiles, InterruptedInTheFirstItAnswersWithIt) {
  StageCounter impatient(0);
  Tuned part = tuned({"beta"}, context(&impatient, false));
  EXPECT_TRUE(part.report->interrupted);
  EXPECT_TRUE(part.report->tried.empty());
  EXPECT_EQ(part.fitted->summary().stopped, Stopped::interrupted);
  Tuned rest = tuned({"beta"}, context(nullptr, true)), whole = tuned();
  EXPECT_EQ(rest.report, whole.report);
  EXPECT_EQ(to_bytes(rest.fitted->save()), to_bytes(whole.fitted->save()));
}

TEST(Tune, FailsWhereEveryCombinationFails) {
  Split split = contract::toy_split();
  // Every loss overflows float32.
  split.train = contract::changed(split.train, [](Batch& b) { b.target = 1e25 * b.target; });
  EXPECT_THROW(tune(find_method("dbk"), small_dbk(), {"beta"}, split, {Stream(7)}), NumericalError);
}

TEST(Tune, AlphaIsLeftOutWhereItMeansNothing) {
  json options = find_method("sv-dbk").resolve({{"steps", 20}, {"rank", 8}, {"hidden", 8}, {"blocks", 1}});
  Tuned best =
      tune(find_method("sv-dbk"), options, kBoth, contract::task_split(LikelihoodKind::softmax), {Stream(7)});
  EXPECT_EQ(best.report->tried.size(), 4u);
  EXPECT_EQ(best.report->options, std::vector<std::string>{"beta"});
}

}  // namespace
}  // namespace slimbayes
