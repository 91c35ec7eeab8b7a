#include "slimbayes/fit/noise_folds.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/fit/steps_tables.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

using nlohmann::json;

struct Coverage {
  double mean = 0, least = 1;
};

Coverage coverage_of(const std::string& method, int64_t rows) {
  constexpr uint64_t kTables = 6;
  Coverage all;
  for (uint64_t seed = 0; seed < kTables; ++seed) {
    const Model model = fit_model(steps(rows, seed + 10), small(method));
    const double one = model.evaluate(steps(2000, 3)).coverage.value();
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
  expect_has(note(steps(10), fit), "only 1 validation row: the sd may be far too small; `.noise_folds=5`");
  fit = small();
  fit.valid_fraction = 0;
  fit.options["steps"] = 20;
  expect_has(note(steps(2100), fit), "no validation rows: the sd may be too small; raise `.valid_fraction`");
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

}  // namespace
}  // namespace slimbayes
