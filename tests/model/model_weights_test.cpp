#include "slimbayes/model/model_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/random.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/input_groups.h"
#include "slimbayes/model/row_predictor.h"
#include "slimbayes/model/uncertainty.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Rows of an input x, a target y, classes c and whole weights w from 1 to 4.
Table weighed_table(int64_t n, uint64_t seed) {
  const Stream stream(seed);
  std::vector<double> x, y, w, c;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint64_t>(i);
    x.push_back(stream.split("x").normal(at));
    y.push_back(2 * x.back() + stream.split("y").normal(at) * (i % 3 == 0 ? 3 : 1));
    c.push_back(y.back() > 0 ? 1 : 0);
    w.push_back(static_cast<double>(1 + i % 4));
  }
  return table_of({numbers("x", x), numbers("y", y), numbers("c", c), numbers("w", w)});
}

FitOptions plain_fit(const std::string& target) {
  FitOptions fit;
  fit.target = target;
  fit.method = target == "y" ? "ridge" : "logistic";
  fit.ignore = {"w", target == "y" ? "c" : "y"};
  return fit;
}

/// The model as if it had been fitted with the weights w.
Model scored_by_w(const Model& model) {
  ModelParts parts = model.parts();
  parts.fit.weights = "w";
  parts.fit.weights_are = "counts";
  return Model(std::move(parts));
}

Table with_w(Table table, const std::vector<double>& weights) {
  std::ranges::find(table.columns, "w", &Column::name)->values = weights;
  return table;
}

/// The rows as often as their weights say.
Examples each_repeated(const Table& table) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < table.rows; ++i)
    for (int64_t k = 0; k < 1 + i % 4; ++k) places.push_back(i);
  return take(Examples(table), places);
}

json fields_of(const Model& model, const Examples& examples) {
  const Answers a = model.answers(examples, {{0.9}});
  json fields = fields_to_json(model.evaluate(examples, a));
  fields.update(fields_to_json(uncertainty_of(model, examples, a).value()));
  return fields;
}

json without_counts_of_rows(json fields) {
  for (const char* name :
       {"n", "total_weight", "effective_rows", "confusion", "different_inputs", "coverage_of_inputs"})
    fields.erase(name);
  fields["selective"].erase("rows");
  if (fields.contains("errors")) fields["errors"].erase("wrong");
  if (fields.contains("reliability")) {
    fields["reliability"].erase("rows");
    fields["reliability"].erase("weight");
  }
  return fields;
}

void expect_close(const json& a, const json& b, const std::string& where) {
  ASSERT_EQ(a.size(), b.size()) << where;
  if (a.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-10 * (1 + std::abs(b.get<double>()))) << where;
    return;
  }
  if (a.is_primitive()) {
    EXPECT_EQ(a, b) << where;
    return;
  }
  for (auto i = a.begin(), k = b.begin(); i != a.end(); ++i, ++k)
    expect_close(*i, *k, where + (a.is_object() ? "." + i.key() : ""));
}

TEST(ModelWeights, ScoresAreThoseOfTheRowsRepeated) {
  for (const char* target : {"y", "c"}) {
    const Model model = fit_model(weighed_table(120, 1), plain_fit(target));
    const Table fresh = weighed_table(80, 2);  // the weights sum up to 200
    const json weighed = fields_of(scored_by_w(model), fresh);
    expect_close(without_counts_of_rows(weighed),
                 without_counts_of_rows(fields_of(model, each_repeated(fresh))), target);
    EXPECT_EQ(weighed.at("n"), 80);
    EXPECT_EQ(weighed.at("total_weight"), 200.0);
    EXPECT_NEAR(weighed.at("effective_rows").get<double>(), 40000.0 / 600, 1e-12);
    EXPECT_NE(weighed.at("nll"), fields_of(model, fresh).at("nll"));
  }
}

TEST(ModelWeights, OfZeroLeaveTheirRowsOut) {
  const Model model = scored_by_w(fit_model(weighed_table(120, 1), plain_fit("y")));
  const Table fresh = weighed_table(40, 2);
  std::vector<double> weights = fresh.find("w")->values;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < weights.size(); ++i)
    if (i % 5 == 2)
      weights[i] = 0;
    else
      kept.push_back(static_cast<int64_t>(i));
  const Table some = with_w(fresh, weights);
  EXPECT_EQ(scored_examples(some, model.fit_options()).places, kept);
  expect_close(fields_of(model, some), fields_of(model, take(Examples(some), kept)), "kept");
  EXPECT_FALSE(scored_examples(fresh, model.fit_options()).some);
  EXPECT_THROW(model.evaluate(with_w(fresh, std::vector<double>(40, 0.0))), std::invalid_argument);
}

TEST(ModelWeights, AreNoneWithoutTheColumnOrTheOption) {
  const Model plain = fit_model(weighed_table(120, 1), plain_fit("y")), model = scored_by_w(plain);
  Table fresh = weighed_table(40, 2);
  EXPECT_FALSE(scored_weights(fresh, plain.fit_options()).defined());
  const json without = fields_of(plain, fresh);
  EXPECT_FALSE(without.contains("effective_rows"));
  std::erase_if(fresh.columns, [](const Column& c) { return c.name == "w"; });
  EXPECT_FALSE(scored_weights(fresh, model.fit_options()).defined());
  EXPECT_EQ(fields_of(model, fresh), without);
}

TEST(ModelWeights, RefusesOthers) {
  const Model model = scored_by_w(fit_model(weighed_table(120, 1), plain_fit("y")));
  for (const double bad : {-1.0, static_cast<double>(NAN), HUGE_VAL}) {
    std::vector<double> weights(40, 1.0);
    weights[7] = bad;
    EXPECT_THROW(model.evaluate(with_w(weighed_table(40, 2), weights)), DataError) << bad;
  }
}

TEST(ModelWeights, GroupsShareTheirWeightInProportion) {
  const at::Tensor shares = group_weights({0, 1, 0, 2}, {0, 1, 2}, at::tensor({1.0, 7.0, 3.0}, at::kDouble));
  EXPECT_TRUE(at::allclose(shares, at::tensor({0.25, 1.0, 0.75}, at::kDouble), 1e-14, 0));
}

/// The calibration weights of a fit, ascending.
at::Tensor sorted_weights(const Model& model) { return std::get<0>(model.calibration().weight.sort()); }

TEST(ModelWeights, OfAFitReachItsCalibration) {
  const Table table = weighed_table(300, 1);
  FitOptions fit = plain_fit("y");
  fit.ignore = {"c"};
  fit.calibrate = "conformal";
  fit.calibration_fraction = 0.3;
  EXPECT_FALSE(fit_model(table, fit).calibration().weight.defined());
  fit.weights = "w";
  const auto expected = [&](const Model& model, ConformalWeight kind) {
    std::vector<double> w;
    std::vector<int64_t> singly;
    for (const int64_t i : model.split().calibration) {
      w.push_back(table.find("w")->values[static_cast<size_t>(i)]);
      singly.push_back(i);
    }
    return std::get<0>(conformal_weights(at::tensor(w, at::kDouble), singly, kind).sort());
  };
  const Model importance = fit_model(table, fit);
  EXPECT_TRUE(
      at::allclose(sorted_weights(importance), expected(importance, ConformalWeight::importance), 1e-12));
  fit.weights_are = "counts";
  EXPECT_TRUE((sorted_weights(fit_model(table, fit)) == 1).all().item<bool>());  // each input once
  fit.split = "random";
  const Model counts = fit_model(table, fit);
  EXPECT_TRUE(at::equal(sorted_weights(counts), expected(counts, ConformalWeight::counts_of_rows)));
}

TEST(ModelWeights, OfCalibrationAreKeptAndServedToRows) {
  FitOptions fit = plain_fit("y");
  fit.calibrate = "conformal";
  fit.calibration_fraction = 0.3;
  ModelParts parts = fit_model(weighed_table(200, 1), fit).parts();
  const at::Tensor value = parts.calibration.value;
  std::vector<int64_t> singly;
  for (int64_t i = 0; i < value.numel(); ++i) singly.push_back(i);
  const double without = conformal_factor(parts.calibration, 0.8);
  parts.calibration = sorted_scores(
      value, singly, conformal_weights(value.square() + 0.1, singly, ConformalWeight::importance));
  const Model model(parts), loaded = Model::from_file(model.to_file(), "weighed");
  EXPECT_TRUE(at::equal(loaded.calibration().weight, parts.calibration.weight));
  const double factor = conformal_factor(model.calibration(), 0.8);
  EXPECT_GT(factor, without);  // large scores weigh more
  EXPECT_EQ(conformal_factor(loaded.calibration(), 0.8), factor);
  const Table fresh = weighed_table(5, 2);
  const Interval ends = model.interval(model.predict(fresh), 0.8);
  RowPredictor rows(model);
  for (int64_t i = 0; i < fresh.rows; ++i) {
    rows(std::vector<double>{fresh.find("x")->values[static_cast<size_t>(i)]});
    EXPECT_NEAR(rows.interval(0.8).upper, ends.upper[i].item<double>(), 1e-11);
  }
}

// The model reads its own parts of a file, whatever the version of those for serving is, and writes them
// again.
TEST(ModelWeights, OfCalibrationStandInAFileOfVersion2ForServing) {
  const auto version_of = [](const TensorFile& file) {
    return json::parse(file.metadata.at("serve")).at("version").get<int>();
  };
  FitOptions fit = plain_fit("y");
  fit.ignore = {"c"};
  fit.calibrate = "conformal";
  fit.calibration_fraction = 0.3;
  const Table table = weighed_table(300, 1);
  for (const bool weighted : {false, true}) {
    fit.weights = weighted ? "w" : "";
    const Model model = fit_model(table, fit);
    const TensorFile file = model.to_file();
    EXPECT_EQ(version_of(file), weighted ? 2 : 1);
    const Model loaded = Model::from_file(file, "weighed");
    EXPECT_EQ(conformal_factor(loaded.calibration(), 0.8), conformal_factor(model.calibration(), 0.8));
    EXPECT_EQ(to_bytes(loaded.to_file()), to_bytes(file));
  }
}

}  // namespace
}  // namespace slimbayes
