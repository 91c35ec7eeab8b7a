// Fits with weights of rows: what a weight of 0, equal weights and whole weights are the same as.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/model/model.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// Returns rows with two inputs, the target and these weights; row i has the weight weights[i % size].
Table weighted_rows(int64_t rows, const std::vector<double>& weights, double first = 0) {
  std::vector<double> a, b, w, y;
  for (int64_t i = 0; i < rows; ++i) {
    const double t = first + static_cast<double>(i);
    a.push_back(std::sin(1.7 * t));
    b.push_back(std::cos(0.9 * t * t));
    w.push_back(weights[static_cast<size_t>(i) % weights.size()]);
    y.push_back(3 + a.back() - 0.5 * b.back() + 0.2 * std::sin(13.1 * t * t));
  }
  return table_of({numbers("a", a), numbers("b", b), numbers("w", w), numbers("y", y)});
}

FitOptions with_weights(const std::string& method) {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.weights = "w";
  if (method != "ridge") fit.options = {{"steps", 30}, {"hidden", 8}, {"blocks", 1}};
  if (method == "dbk") fit.options["rank"] = 4;
  return fit;
}

FitOptions without_weights(const std::string& method) {
  FitOptions fit = with_weights(method);
  fit.weights = "";
  fit.ignore = {"w"};
  return fit;
}

std::vector<int64_t> places_with_weight(const Table& table) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < table.rows; ++i)
    if (table.find("w")->values[static_cast<size_t>(i)] > 0) rows.push_back(i);
  return rows;
}

void expect_same_bits(const Model& a, const Model& b, const Table& rows) {
  const Regression p = a.predict(rows), q = b.predict(rows);
  EXPECT_TRUE(at::equal(p.mean, q.mean));
  EXPECT_TRUE(at::equal(p.aleatoric_var, q.aleatoric_var));
  EXPECT_TRUE(at::equal(p.epistemic_var, q.epistemic_var));
}

TEST(SplitAmongPlaces, HasTheRowsThereAndComesBack) {
  const SplitRows all{
      .train = {0, 2, 5}, .valid = {3}, .test = {6, 7}, .calibration = {1, 4}, .notes = {"n"}};
  const std::vector<int64_t> places = {0, 3, 4, 6, 7};
  const auto lists = [](const SplitRows& of) {
    return std::vector{of.train, of.valid, of.test, of.calibration};
  };
  using Lists = std::vector<std::vector<int64_t>>;
  const SplitRows some = among_places(all, places), back = among_all(some, places);
  EXPECT_EQ(lists(some), (Lists{{0}, {1}, {3, 4}, {2}}));
  EXPECT_EQ(lists(back), (Lists{{0}, {3}, {6, 7}, {4}}));
  EXPECT_EQ(lists(among_places(back, places)), lists(some));
  EXPECT_EQ(some.notes, all.notes);
  EXPECT_EQ(lists(among_places(all, {})), lists(all));
  EXPECT_EQ(lists(among_all(all, {})), lists(all));
}

TEST(FitWithWeights, ARowOfWeight0IsAMissingRow) {
  const Table table = weighted_rows(90, {1, 0, 2.5, 1, 0.5});
  const std::vector<int64_t> kept = places_with_weight(table);
  const Table rest = take_rows(table, kept);
  for (const char* method : {"ridge", "dbk"}) {
    FitOptions fit = with_weights(method);
    fit.test_fraction = 0.2;
    const Model all = fit_model(table, fit), some = fit_model(rest, fit);
    expect_same_bits(all, some, table);
    // The split names the rows of the whole table.
    ASSERT_EQ(all.split().train.size(), some.split().train.size());
    for (size_t i = 0; i < all.split().train.size(); ++i)
      EXPECT_EQ(all.split().train[i], kept[static_cast<size_t>(some.split().train[i])]);
    expect_has(all.split().notes.front(), "18 of 90 rows have the weight 0 in 'w': left out");
  }
}

TEST(FitWithWeights, EqualWeightsOfImportanceAreNone) {
  const Table table = weighted_rows(80, {2}), tenths = weighted_rows(80, {0.1});
  for (const char* method : {"ridge", "dbk"}) {
    const Model plain = fit_model(table, without_weights(method));
    expect_same_bits(fit_model(table, with_weights(method)), plain, table);
    expect_same_bits(fit_model(tenths, with_weights(method)), plain, table);
  }
}

TEST(FitWithWeights, OtherWeightsChangeTheAnswers) {
  const Table table = weighted_rows(80, {1, 5, 1, 0.2});
  const Model weighted = fit_model(table, with_weights("dbk")),
              plain = fit_model(table, without_weights("dbk"));
  EXPECT_GT((weighted.predict(table).mean - plain.predict(table).mean).abs().max().item<double>(), 1e-3);
}

TEST(FitWithWeights, CountsAreRepeatedRows) {
  const Table table = weighted_rows(40, {1, 3, 2});
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < table.rows; ++i)
    for (int k = 0; k < static_cast<int>(table.find("w")->values[static_cast<size_t>(i)]); ++k)
      rows.push_back(i);
  const Examples valid = weighted_rows(20, {1}, 100);
  FitOptions counts = with_weights("ridge"), each = without_weights("ridge");
  counts.weights_are = "counts";
  counts.noise_folds = each.noise_folds =
      0;  // they would keep repeated rows together and count them as one input
  const Model weighted = fit_model(table, counts, &valid),
              repeated = fit_model(take_rows(table, rows), each, &valid);
  const Regression p = weighted.predict(table), q = repeated.predict(table);
  EXPECT_TRUE(
      at::allclose(p.mean, q.mean, 1e-6, 1e-7));  // inputs are float32, standardised by sums that differ
  EXPECT_TRUE(at::allclose(p.aleatoric_var, q.aleatoric_var, 1e-5, 0));
  EXPECT_TRUE(at::allclose(p.epistemic_var, q.epistemic_var, 1e-4, 0));
}

TEST(FitWithWeights, CountsOfCalibrationRowsAreEnoughRows) {
  const Table table = weighted_rows(60, {10});
  FitOptions fit = with_weights("ridge");
  fit.weights_are = "counts";
  fit.split = "random";
  fit.calibrate = "conformal";
  fit.calibration_fraction = 0.2;  // 12 rows that stand for 120: enough for 95 %
  const Model model = fit_model(table, fit);
  EXPECT_EQ(model.calibration().units(), 120);
  EXPECT_GT(conformal_factor(model.calibration(), 0.95), 0);
  fit.weights_are = "importance";
  EXPECT_THROW(fit_model(table, fit), std::invalid_argument);
}

TEST(FitWithWeights, ATestRowThatCannotBeScoredIsRefusedBeforeTraining) {
  struct Watching : Callback {
    void report(const Progress&) override { ++reports; }
    int reports = 0;
  };
  Table table = weighted_rows(40, {1});
  for (double& y : table.columns[3].values) y = std::floor(std::abs(y) * 3);
  ASSERT_EQ(table.columns[3].name, "y");
  table.columns[3].values[7] = 2.5;
  FitOptions fit = without_weights("vbll");
  fit.likelihood = LikelihoodKind::poisson;
  fit.test_fraction = 0.8;
  for (fit.split_seed = 0; fit.split_seed < 4; ++fit.split_seed) {
    Watching callback;
    EXPECT_ANY_THROW(fit_model(table, fit, nullptr, &callback));
    EXPECT_EQ(callback.reports, 0);
  }
}

TEST(FitWithWeights, SeparateValidationDataNeedTheColumn) {
  const Table table = weighted_rows(60, {1, 2});
  Table own = weighted_rows(20, {1, 0}, 100);
  FitOptions fit = with_weights("ridge");
  const Examples valid = own, rest = take_rows(own, places_with_weight(own));
  expect_same_bits(fit_model(table, fit, &valid), fit_model(table, fit, &rest), table);
  std::erase_if(own.columns, [](const Column& column) { return column.name == "w"; });
  const Examples lacking = own;
  expect_has(error_of([&] { fit_model(table, fit, &lacking); }),
             "the column 'w' of weights in the validation data too; received a table without it");
}

TEST(FitWithWeights, PredictionsDoNotNeedTheColumn) {
  Table table = weighted_rows(60, {1, 2});
  const Model model = fit_model(table, with_weights("ridge"));
  const Regression p = model.predict(table);
  std::erase_if(table.columns, [](const Column& column) { return column.name == "w"; });
  EXPECT_TRUE(at::equal(model.predict(table).mean, p.mean));
  EXPECT_EQ(model.evaluate(table).n, 60);  // each row counts once
  EXPECT_FALSE(model.reading().kinds.contains("w"));
  EXPECT_EQ(model.reading(/*with_target=*/true).kinds.at("w"), ColumnKind::numeric);
}

TEST(FitWithWeights, AnEvaluationLeavesRowsOfWeight0Out) {
  const Table table = weighted_rows(60, {1, 2, 0});
  const Model model = fit_model(table, with_weights("ridge"));
  const Evaluation all = model.evaluate(table),
                   some = model.evaluate(take_rows(table, places_with_weight(table)));
  EXPECT_EQ(all.n, 40);
  EXPECT_EQ(fields_to_json(all), fields_to_json(some));
}

TEST(FitWithWeights, RowsOfWeight0DoNotDecideTheTask) {
  Table table = weighted_rows(30, {1, 1, 0});
  for (int64_t i = 0; i < 30; ++i)
    table.columns[3].values[static_cast<size_t>(i)] = i % 3 == 2 ? 7.5 : static_cast<double>(i % 2);
  FitOptions fit = with_weights("ridge");
  EXPECT_EQ(task_asked(table, fit), TaskKind::classification);
  EXPECT_EQ(task_asked(table, without_weights("ridge")), TaskKind::regression);
}

TEST(FitWithWeights, NotesSayWhatTheRowsCount) {
  const Table table = weighted_rows(50, {1, 3});
  FitOptions fit = with_weights("ridge");
  fit.valid_fraction = 0;
  const auto note = [&] { return fit_model(table, fit).split().notes.back(); };
  expect_has(note(),
             "50 rows in training, weighted by 'w': means over them are as sure as those over 40 equal");
  fit.weights_are = "counts";
  expect_has(note(), "50 rows in training, weighted by 'w', count as 100 (`.weights_are=counts`)");
}

TEST(FitWithWeights, SuchAModelLearnsNoMoreRows) {
  const Table table = weighted_rows(60, {1, 2});
  const Model model = fit_model(table, with_weights("bll"));
  for (const auto change : {&Model::with, &Model::without, &Model::shard})
    expect_has(error_of([&] { (model.*change)(table); }), "a model that was fitted without weights");
}

TEST(FitWithWeights, OfANetworkAtHandAreThoseOfItsFit) {
  const Table table = weighted_rows(60, {1, 2});
  const Model own = fit_model(table, with_weights("dnn")), plain = fit_model(table, without_weights("dnn"));
  FitOptions given;
  given.network_from = "m";
  EXPECT_EQ(with_network_from(given, own).weights, "w");
  given.weights = "w";
  EXPECT_EQ(with_network_from(given, own).weights, "w");
  expect_has(error_of([&] { with_network_from(given, plain); }),
             "no weights, as that model was fitted without");
}

}  // namespace
}  // namespace slimbayes
