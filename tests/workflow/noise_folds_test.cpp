#include "slimbayes/workflow/noise_folds.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "slimbayes/core/check.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/workflow/model.h"
#include "tests/data/tables.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double log_likelihood(const at::Tensor& r, const at::Tensor& v, double extra) {
  const at::Tensor total = v + extra;
  return -0.5 * (total.log() + r.square() / total).sum().item<double>();
}

TEST(NoiseVarianceOfResiduals, OfEqualVariancesIsWhatTheMeanSquareLacks) {
  const at::Tensor r = Stream(1).normal({20});
  const double square = r.square().mean().item<double>();
  const at::Tensor ones = at::ones({20}, at::kDouble);
  EXPECT_NEAR(noise_variance(r, at::full({20}, 0.3, at::kDouble), ones), square - 0.3, 1e-6);
  EXPECT_NEAR(noise_variance(r, at::full({20}, 1e-12, at::kDouble), ones) / square, 1, 1e-6);
  EXPECT_NEAR(noise_variance(1e5 * r, at::full({20}, 1e-12, at::kDouble), ones) / square, 1e10, 1e4);
  EXPECT_EQ(noise_variance(r, at::full({20}, 1.1 * square, at::kDouble), ones), 0);
  EXPECT_EQ(noise_variance(r, at::full({20}, 100, at::kDouble), ones), 0);
}

TEST(NoiseVarianceOfResiduals, AGroupOfAlikeRowsCountsAsOne) {
  const at::Tensor r = Stream(1).normal({20}), repeated = at::cat({r, r[3].expand({9})});
  at::Tensor weight = at::ones({29}, at::kDouble);
  weight[3] = 0.1;
  weight.narrow(0, 20, 9).fill_(0.1);
  const at::Tensor none = at::zeros({20}, at::kDouble), more = at::zeros({29}, at::kDouble);
  EXPECT_NEAR(noise_variance(repeated, more, weight), noise_variance(r, none, at::ones({20}, at::kDouble)),
              1e-7);
  EXPECT_NEAR(noise_variance(r, none, at::ones({20}, at::kDouble)), r.square().mean().item<double>(), 1e-7);
}

TEST(NoiseVarianceOfResiduals, MaximisesTheLikelihoodOfUnequalOnes) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor r = Stream(seed).normal({15}), v = at::exp(4 * Stream(seed + 100).normal({15}));
    const double best = noise_variance(r, v, at::ones({15}, at::kDouble)), most = log_likelihood(r, v, best);
    for (double extra : {0.0, 1e-8, 1e-4, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 1e3})
      EXPECT_GE(most, log_likelihood(r, v, extra) - 1e-9) << seed << " " << extra;
  }
}

Table steps(int64_t rows, uint64_t seed = 1) { return generate("steps", rows, Stream(seed)); }

FitOptions small(const std::string& method = "dnn") {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.options = {{"steps", 200}, {"hidden", 16}, {"blocks", 1}};
  if (method == "gp-exact") fit.options = {{"iterations", 20}};
  fit.ignore = {"true_mean", "true_sd"};
  return fit;
}

struct Coverage {
  double mean = 0, least = 1;
};

Coverage coverage_of(const std::string& method, int64_t rows) {
  constexpr uint64_t kTables = 6;
  Coverage all;
  for (uint64_t seed = 0; seed < kTables; ++seed) {
    const Model model = fit_model(steps(rows, seed + 10), small(method));
    const auto one = model.evaluate(steps(2000, 3))["coverage"].get<double>();
    all.mean += one / kTables;
    all.least = std::min(all.least, one);
  }
  return all;
}

// Tables of ten and thirty rows leave one and three validation rows, whose least squared error is nearly 0.
TEST(NoiseFolds, AFewRowsCoverTheRowsToCome) {
  for (int64_t rows : {10, 30}) {
    for (const char* method : {"dnn", "dbk"}) {
      const Coverage c = coverage_of(method, rows);
      EXPECT_GE(c.mean, 0.75) << method << " " << rows;
      EXPECT_GE(c.least, 0.5) << method << " " << rows;
    }
  }
}

TEST(NoiseFolds, TheNoiseIsInEveryAnswerAndInTheFile) {
  const Table table = steps(30);
  const Model model = fit_model(table, small());
  FitOptions plain_fit = small();
  plain_fit.noise_folds = 0;
  const Model plain = fit_model(table, plain_fit);
  const NoiseEstimate& noise = model.noise();
  EXPECT_EQ(noise.folds, 5);
  EXPECT_EQ(noise.rows, 30);
  ASSERT_GT(noise.var, 0);
  const double scale = model.schema().task.y_scale;
  EXPECT_NEAR(noise.sd, std::sqrt(noise.var) * scale, 1e-12);
  const Regression p = model.predict(table), q = plain.predict(table);
  EXPECT_TRUE(at::equal(p.mean, q.mean));
  const at::Tensor least = at::full_like(p.mean, noise.sd * noise.sd);
  EXPECT_TRUE(at::allclose(p.aleatoric_var, at::maximum(q.aleatoric_var, least), 1e-9, 0));
  const TensorFile file = model.to_file();
  const Model loaded = Model::from_file(file, "m");
  EXPECT_TRUE(at::equal(total_var(loaded.predict(table)), total_var(p)));
  EXPECT_EQ(loaded.noise().notes, noise.notes);
  EXPECT_EQ(to_bytes(loaded.to_file()), to_bytes(file));
  TensorFile damaged = file;
  json words = json::parse(damaged.metadata["noise"]);
  words["var"] = -1;
  damaged.metadata["noise"] = words.dump();
  EXPECT_THROW(Model::from_file(damaged, "m"), DataError);
}

TEST(NoiseFolds, EnoughValidationRowsChangeNothing) {
  FitOptions fit = small();
  TensorFile with = fit_model(steps(300), fit).to_file();  // 30 validation rows
  fit.noise_folds = 0;
  TensorFile without = fit_model(steps(300), fit).to_file();
  for (TensorFile* file : {&with, &without}) file->metadata.erase("fit");  // the options as given
  EXPECT_EQ(to_bytes(with), to_bytes(without));
  EXPECT_FALSE(with.metadata.contains("noise"));
}

/// Returns 100 training rows and 40 validation rows whose targets lie 3 higher: a fit of the training rows
/// misses them all, so that its noise is in doubt although 40 rows chose it.
Split in_doubt() {
  Split parts{contract::toy(100, 1), contract::toy(40, 2)};
  Batch rows = parts.valid.all();
  rows.target = rows.target + 3;
  parts.valid = dataset_of(parts.valid.schema, std::move(rows));
  return parts;
}

/// Fits vbll, whose noise is that of the training rows, to these parts, with the noise by cross-fitting.
CrossFitted vbll_with_folds(const Split& parts, const FitContext& context, int64_t folds = 5) {
  const MethodInfo& info = find_method("vbll");
  const json options = info.resolve({{"steps", 400}, {"hidden", 8}, {"blocks", 1}, {"rank", 8}});
  const auto main = [&](const FitContext& of_main) -> Tuned {
    return {options, registry_row("vbll").make(options)->fit(parts, of_main), {}};
  };
  return fit_with_noise_folds(info, main, parts, {folds, true, Stream(2)}, context);
}

TEST(NoiseFolds, ValidationRowsOutsideTheirIntervalsPutTheNoiseInDoubt) {
  const Split parts = in_doubt();
  const CrossFitted fit = vbll_with_folds(parts, {Stream(1)});
  EXPECT_EQ(fit.noise.folds, 5);
  EXPECT_EQ(fit.noise.rows, 140);
  expect_has(
      fit.noise.notes.at(0),
      "40 of 40 validation rows lie outside their 95 % intervals, more than chance explains: the noise was "
      "estimated by 5-fold cross-fitting on 140 rows");
  EXPECT_GT(fit.noise.sd, 0.5);  // the folds' residuals hold the shift of 40 rows
  EXPECT_TRUE(vbll_with_folds(parts, {Stream(1)}, 0).noise.empty());
  // The same rows without the shift give no doubt.
  const Split sound{contract::toy(100, 1), contract::toy(40, 2)};
  EXPECT_TRUE(vbll_with_folds(sound, {Stream(1)}).noise.empty());
}

// Few rows lie outside their intervals, but some lie far outside.
TEST(NoiseFolds, AnNllNoBetterThanAConstantsPutsTheNoiseInDoubt) {
  Split parts{contract::toy(100, 1), contract::toy(40, 2)};
  Batch rows = parts.valid.all();
  rows.target = rows.target.clone();
  rows.target[3] = rows.target[3] + 30;
  parts.valid = dataset_of(parts.valid.schema, std::move(rows));
  const CrossFitted fit = vbll_with_folds(parts, {Stream(1)});
  expect_has(fit.noise.notes.at(0), "on 40 validation rows the NLL is no better than that of one answer");
}

TEST(NoiseFolds, TheNotesSayWhatTheSdRestsOn) {
  const auto note = [](const Table& table, const FitOptions& fit) {
    const std::vector<std::string> notes = fit_model(table, fit).noise().notes;
    return notes.empty() ? std::string() : notes.back();
  };
  expect_has(note(steps(30), small()),
             "only 3 validation rows: the noise was estimated by 5-fold cross-fitting on 30 rows");
  FitOptions fit = small();
  fit.noise_folds = 0;
  expect_has(note(steps(10), fit), "only 1 validation row: the sd may be far too small; --noise-folds 5");
  fit = small();
  fit.valid_fraction = 0;
  fit.options["steps"] = 20;
  expect_has(note(steps(2100), fit), "no validation rows: the sd may be too small; raise --valid-fraction");
  expect_has(note(steps(3), fit), "fewer than 4 different inputs");
  fit.noise_folds = 1;
  EXPECT_THROW(fit_model(steps(30), fit), std::invalid_argument);
  FitOptions counts = small("vbll");
  counts.likelihood = LikelihoodKind::poisson;
  EXPECT_EQ(note(generate("counts", 300, Stream(1)), counts), "");
  expect_has(note(generate("counts", 60, Stream(1)), counts),
             "only 6 validation rows: the answers may be too sure");
}

// The rank may equal the number of training rows, which a fold does not have: folds must lower it.
TEST(NoiseFolds, EveryKindOfFitIsCrossFitted) {
  FitOptions exact = small("dbk-exact"), tuned = small("dbk"), ensemble = small("ensemble"),
             gp = small("gp-exact");
  exact.options["rank"] = 18;
  tuned.options["rank"] = 8;
  tuned.tune = {"beta"};
  ensemble.options = {{"of", "dnn"}, {"members", 2}, {"steps", 30}, {"hidden", 16}, {"blocks", 1}};
  for (const FitOptions& fit : {exact, tuned, ensemble, gp}) {
    const Model model = fit_model(steps(20), fit);
    EXPECT_EQ(model.noise().rows, 20) << fit.method;
    EXPECT_TRUE(at::isfinite(total_var(model.predict(steps(20)))).all().item<bool>()) << fit.method;
  }
}

TEST(NoiseFolds, AFoldThatFailsIsNotedAndTheOthersServe) {
  const MethodInfo& info = find_method("dnn");
  const json options = info.resolve({{"steps", 20}, {"hidden", 8}, {"blocks", 1}});
  Split parts{contract::toy(30, 1), contract::toy(0, 2)};
  const std::shared_ptr<const Fitted> main = registry_row("dnn").make(options)->fit(parts, {Stream(1)});
  Batch rows = parts.train.all();
  rows.target = rows.target.clone();
  rows.target[7] = 1e25;  // overflows float32 in the four folds that train on it
  parts.train = dataset_of(parts.train.schema, std::move(rows));
  const auto ready = [&](const FitContext&) { return Tuned{options, main, {}}; };
  const NoiseEstimate noise =
      fit_with_noise_folds(info, ready, parts, {5, true, Stream(2)}, {Stream(1)}).noise;
  EXPECT_EQ(noise.folds, 1);
  EXPECT_EQ(noise.rows, 6);
  ASSERT_EQ(noise.notes.size(), 5u);
  int failed = 0;
  for (const std::string& note : noise.notes)
    failed += note.find("failed: [train] expected a finite loss; received inf") != std::string::npos;
  EXPECT_EQ(failed, 4);
}

/// Stops a fit when the given stage begins. Records the stages and the thread counts.
class Watcher : public Callback {
 public:
  explicit Watcher(std::string last = "") : last_(std::move(last)) {}
  void stage(const std::string& name) override {
    stages.push_back(name);
    stop_ = stop_ || name == last_;
  }
  void report(const Progress&) override { threads.insert(at::get_num_threads()); }
  bool stop() override { return stop_; }

  std::vector<std::string> stages;
  std::set<int> threads;

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
    Watcher impatient("fold 3/5");
    const Model part = fitted(fit, &impatient, false);
    EXPECT_TRUE(part.interrupted()) << fit.method;
    EXPECT_EQ(part.noise().folds, 2);
    EXPECT_TRUE(at::equal(part.predict(steps(30)).mean, whole.predict(steps(30)).mean));
    Watcher watcher;
    const Model rest = fitted(fit, &watcher, true);
    EXPECT_EQ(watcher.stages, (std::vector<std::string>{"fold 3/5", "fold 4/5", "fold 5/5"})) << fit.method;
    EXPECT_FALSE(rest.interrupted());
    EXPECT_EQ(to_bytes(rest.to_file()), to_bytes(whole.to_file())) << fit.method;
    for (const auto& entry : fs::directory_iterator(folder_)) EXPECT_EQ(entry.path().filename(), "m.ckpt");
    fs::remove(folder_ / "m.ckpt");
  }
}

TEST_F(NoiseFoldFiles, FoldsThatFollowAFitInDoubtAreResumedToo) {
  const Split parts = in_doubt();
  const auto with = [&](Callback* callback, bool resume) {
    return vbll_with_folds(parts, {Stream(1), callback, {folder_ / "m.ckpt", resume, "print", 0}});
  };
  const CrossFitted whole = vbll_with_folds(parts, {Stream(1)});
  Watcher impatient("fold 2/5");
  EXPECT_TRUE(with(&impatient, false).noise.interrupted);
  Watcher watcher;
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
  Watcher impatient("2/2");
  with(&impatient, false);
  const Model rest = with(nullptr, true);
  EXPECT_EQ(rest.noise().notes, whole.noise().notes);
  EXPECT_EQ(to_bytes(rest.to_file()), to_bytes(whole.to_file()));
}

TEST_F(NoiseFoldFiles, InterruptedInTheMainFitItAnswersWithIt) {
  FitOptions fit = small("ensemble");
  fit.options = {{"of", "dnn"}, {"members", 2}, {"steps", 30}, {"hidden", 16}, {"blocks", 1}};
  Watcher impatient("2/2");
  const Model part = fitted(fit, &impatient, false);
  EXPECT_TRUE(part.interrupted());
  EXPECT_EQ(part.noise().folds, 0);
  expect_has(part.noise().notes.at(0), "the sd may be far too small; the fit was interrupted");
  EXPECT_EQ(to_bytes(fitted(fit, nullptr, true).to_file()), to_bytes(fit_model(steps(30), fit).to_file()));
}

// A network trains on one thread, because its short steps wait for each other on many threads beside other
// work. After the fit the caller's thread count is restored.
TEST(FitThreads, ANetworkTrainsOnOneAndTheCallersNumberComesBack) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const auto seen = [](FitOptions fit) {
    fit.noise_folds = 0;
    if (fit.method == "dnn") fit.options["steps"] = 5;
    Watcher watcher;
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
