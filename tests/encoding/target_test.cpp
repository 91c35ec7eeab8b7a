#include "slimbayes/encoding/target.h"

#include <cmath>
#include <functional>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

using Words = std::vector<std::string>;
using Numbers = std::vector<double>;

Column booleans(std::string name, std::vector<double> values) {
  return {std::move(name), ColumnKind::boolean, std::move(values), {}};
}

Task task_for(const Table& table, std::optional<LikelihoodKind> likelihood = {}) {
  return fit_task(table, all_rows(table), {"y", likelihood});
}

TEST(Target, TheColumnsKindChoosesTheTask) {
  Table text = table_of({categories("y", {0, 1, 0, 1}, {"red", "blue"})});
  Task two = task_for(text);
  EXPECT_EQ(two.kind, TaskKind::classification);
  EXPECT_EQ(two.likelihood, LikelihoodKind::bernoulli);
  EXPECT_EQ(two.outputs, 1);
  EXPECT_EQ(two.levels, (Words{"blue", "red"}));
  EXPECT_EQ(target_values(text, "y", two), (Numbers{1, 0, 1, 0}));
  Task three = task_for(table_of({categories("y", {0, 1, 2, 2, 1, 0}, {"c", "b", "a"})}));
  EXPECT_EQ(three.likelihood, LikelihoodKind::softmax);
  EXPECT_EQ(three.outputs, 3);
  EXPECT_EQ(three.levels, (Words{"a", "b", "c"}));
  Task truth = task_for(table_of({booleans("y", {1, 0, 1, 0})}));
  EXPECT_EQ(truth.likelihood, LikelihoodKind::bernoulli);
  EXPECT_EQ(truth.levels, (Words{"false", "true"}));
  Task number = task_for(table_of({numbers("y", {1, 2, 3})}));
  EXPECT_EQ(number.kind, TaskKind::regression);
  EXPECT_DOUBLE_EQ(number.y_shift, 2);
  // The likelihood gaussian reads booleans as numbers.
  EXPECT_EQ(task_for(table_of({booleans("y", {1, 0})}), LikelihoodKind::gaussian).kind, TaskKind::regression);
}

TEST(Target, TwoWholeNumbersAreTwoClasses) {
  const Table table = table_of({numbers("y", {1, 0, kNone, 0, 1, 1})});
  const Task task = fit_task(table, {0, 1, 3, 4}, {"y", {}});
  EXPECT_EQ(task.likelihood, LikelihoodKind::bernoulli);
  EXPECT_EQ(task.levels, (Words{"0", "1"}));
  expect_has(two_classes_note(table, "y"),
             "the target 'y' holds 0 and 1 alone, which are taken as two classes; `.likelihood=gaussian`");
  EXPECT_EQ(fit_task(table, {0, 1, 3, 4}, {"y", LikelihoodKind::gaussian}).kind, TaskKind::regression);
  expect_has(error_of([&] {
               fit_task(table, {0, 1, 3, 4}, {"y", {}, "centred"});
             }),
             "`.likelihood=gaussian` fits two whole numbers as numbers");
  EXPECT_EQ(task_for(table_of({numbers("y", {-1, 1, 1, -1})})).levels, (Words{"-1", "1"}));
  expect_has(likelihood_hint(table_of({numbers("y", {0, 0, 1, 0})}), "y", {0, 1, 2, 3}),
             "holds 0 and 1 alone, one of them in a single row, and is fitted as a number");
  // A value in one row alone, fractions, three values and one value are numbers.
  for (const std::vector<double>& values :
       {std::vector<double>{0, 1, 1}, {0, 0.5, 0, 0.5}, {0, 1, 2, 0, 1, 2}, {1, 1, 1}}) {
    const Table other = table_of({numbers("y", values)});
    EXPECT_EQ(task_for(other).kind, TaskKind::regression);
    EXPECT_EQ(two_classes_note(other, "y"), "");
  }
}

TEST(Target, NumbersAreClassesWhereAskedFor) {
  Table table = table_of({numbers("y", {10, 9, 9, 10, 2.5, 2.5})});
  Task task = task_for(table, LikelihoodKind::softmax);
  EXPECT_EQ(task.levels, (Words{"2.5", "9", "10"}));  // sorted by value, not by spelling
  EXPECT_EQ(target_values(table, "y", task), (Numbers{2, 1, 1, 2, 0, 0}));
  Task two = task_for(table_of({numbers("y", {0, 1, 1, 0})}), LikelihoodKind::bernoulli);
  EXPECT_EQ(two.outputs, 1);
  Task forced = task_for(table_of({numbers("y", {0, 1, 1, 0})}), LikelihoodKind::softmax);
  EXPECT_EQ(forced.outputs, 2);
}

// The variance in the target's units needs the square of the scale, which under- or overflows at 1e-155 and
// 1e155.
TEST(Target, ASpreadWhoseSquareIsNoNumberIsRefused) {
  for (double scale : {1e155, 1e200, 1e-155, 1e-200, 1e-310, 8e307}) {
    const std::string error = error_of([&] {
      task_for(table_of({numbers("y", {scale, 2 * scale, -scale})}));
    });
    expect_has(error, "expected a standard deviation of 'y' from 1e-140 to 1e+140");
    expect_has(error, "rescale the target");
  }
  for (double scale : {1e139, 1e-139}) {
    const Task task = task_for(table_of({numbers("y", {scale, 2 * scale, -scale})}));
    EXPECT_NEAR(task.y_scale / scale, 1.247219, 1e-6);
  }
  for (double same : {1e308, 1e-310, 0.0})
    EXPECT_EQ(task_for(table_of({numbers("y", {same, same})})).y_scale, 1);
  EXPECT_EQ(task_for(table_of({numbers("y", {1e300, 0, 1e300, 0})}), LikelihoodKind::softmax).kind,
            TaskKind::classification);
}

TEST(Target, ACentredTargetKeepsItsUnits) {
  const Table table = table_of({numbers("y", {1, 3, 8}), categories("c", {0, 1, 0}, {"a", "b"})});
  const Task task = fit_task(table, {0, 1, 2}, {"y", {}, "centred"}), scaled = task_for(table);
  EXPECT_EQ(target_values(table, "y", task), (Numbers{-3, -1, 4}));
  EXPECT_EQ(task.y_scale, 1);
  EXPECT_EQ(task.encoded_sd, scaled.y_scale);
  EXPECT_EQ(scaled.encoded_sd, 1);
  EXPECT_EQ(score_name(task, "NLL"), "validation NLL");
  EXPECT_EQ(score_name(scaled, "NLL"), "standardised validation NLL");
  const Task again = task_from_json(to_json(task), "test"), old = task_from_json(to_json(scaled), "test");
  EXPECT_EQ(again.encoded_sd, task.encoded_sd);
  EXPECT_EQ(again.y_scale, 1);
  EXPECT_FALSE(to_json(scaled).contains("encoded_sd"));  // as in older files
  EXPECT_EQ(old.encoded_sd, 1);
  const Table far = table_of({numbers("y", {1, 3, 8, 1e19})});
  expect_has(error_of([&] { check_standardised(far, "y", task); }),
             "within 1e+18 (the target is not scaled)");
  expect_has(error_of([&] { fit_task(table, {0, 1, 2}, {"y", {}, "robust"}); }), "'standard' or 'centred'");
  expect_has(error_of([&] {
               fit_task(table, {0, 1, 2}, {"y", LikelihoodKind::poisson, "centred"});
             }),
             "leave `.target_scale` out");
}

TEST(Target, ARowFarBeyondTheTrainingTargetsIsNamed) {
  const Table table = table_of({numbers("y", {1, 2, 3, kNone, 1e30})}),
              fine = table_of({numbers("y", {1, 2, 3, 1e17})});
  const auto fit = [](const Table& t) { return fit_task(t, {0, 1, 2}, {"y", {}}); };
  const std::string error = error_of([&] { fit(table); });
  expect_has(error, "data row 5");
  expect_has(error, "within 1e+18 training sds");
  const Task task = fit(fine);
  expect_has(error_of([&] { check_standardised(table, "y", task); }), "data row 5");
  EXPECT_THROW(fit(table_of({numbers("y", {1e308, 1e308, 1e308, -1e308})})),
               DataError);  // the difference of these targets overflows
  Task counts = task;
  counts.kind = TaskKind::counts;
  EXPECT_NO_THROW(check_standardised(table, "y", counts));
}

TEST(Target, LevelsAreKnownByTheirMeaningInAnotherTable) {
  Task task = task_for(table_of({categories("y", {0, 1, 2, 0, 1, 2}, {"3", "yes", "x"})}));
  EXPECT_EQ(target_values(table_of({numbers("y", {3, 3})}), "y", task), (Numbers{0, 0}));
  EXPECT_EQ(target_values(table_of({booleans("y", {1})}), "y", task), (Numbers{2}));
  EXPECT_EQ(target_values(table_of({categories("y", {0}, {"x"})}), "y", task), (Numbers{1}));
  expect_has(error_of([&] {
               target_values(table_of({categories("y", {0, 1}, {"x", "z"})}), "y", task);
             }),
             "t.csv: data row 2: expected a class of the training rows in the target 'y'; received 'z'");
}

TEST(Target, CountsAreWholeNumbers) {
  Table good = table_of({numbers("y", {0, 3, 7})});
  Task task = task_for(good, LikelihoodKind::poisson);
  EXPECT_EQ(task.kind, TaskKind::counts);
  EXPECT_EQ(target_values(good, "y", task), (Numbers{0, 3, 7}));
  for (double bad : {-1.0, 2.5}) {
    Table table = table_of({numbers("y", {0, 1, bad})});
    std::string sentence = error_of([&] { task_for(table, LikelihoodKind::poisson); });
    expect_has(
        sentence,
        "t.csv: data row 3: expected counts, whole numbers from 0 to 1e15, in the target 'y'; received");
    expect_has(error_of([&] { target_values(table, "y", task); }), "t.csv: data row 3: expected counts");
  }
  EXPECT_THROW(task_for(table_of({numbers("y", {0, kNone})}), LikelihoodKind::poisson), DataError);
}

TEST(Target, WhatLooksLikeCountsIsSaid) {
  const auto hint = [](const std::function<double(double)>& y) {
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) values.push_back(y((i * 61 % 200 + 0.5) / 200));  // y: quantiles
    const Table table = table_of({numbers("y", values)});
    return likelihood_hint(table, "y", all_rows(table));
  };
  const auto poisson = [](double rate) {
    return [rate](double share) {
      double k = 0, p = std::exp(-rate), sum = p;
      while (sum < share) p *= rate / ++k, sum += p;
      return k;
    };
  };
  const std::function<double(double)> geometric = [](double u) { return std::floor(-3 * std::log(1 - u)); };
  for (double rate : {0.5, 2.0, 4.0}) expect_has(hint(poisson(rate)), "`.likelihood=poisson`");
  expect_has(hint(geometric), "whole numbers from 0 to");
  expect_has(hint([](double u) { return std::floor(10 * u); }), "softmax");           // or perhaps counts
  EXPECT_EQ(hint(poisson(60)), "");                                                   // nearly Gaussian
  EXPECT_EQ(hint([](double u) { return 1930 + std::floor(81 * u); }), "");            // years
  EXPECT_EQ(hint([](double u) { return std::floor(100000 + 400000 * u * u); }), "");  // prices
  EXPECT_EQ(hint([](double u) { return 1 + std::floor(5 * std::pow(u, 0.3)); }),
            "");  // ratings, mostly 4 and 5
  EXPECT_EQ(hint([](double u) { return 1000 * std::floor(-3 * std::log(1 - u)); }), "");  // thousands
  EXPECT_EQ(hint([](double u) { return std::floor(9 * u) - 4; }), "");                    // below 0
  EXPECT_EQ(hint([](double u) { return std::floor(9 * u) / 2; }), "");
  EXPECT_EQ(hint([](double) { return 1.0; }), "");
}

TEST(Target, ClassesNeedRows) {
  Table lone = table_of({categories("y", {0, 0, 1, 2, 2}, {"a", "b", "c"})});
  expect_has(error_of([&] { task_for(lone); }),
             "at least two rows of each class of 'y'; received one row of class 'b'");
  Table held = table_of({categories("y", {0, 0, 1, 1}, {"a", "b"})});
  expect_has(
      error_of([&] {
        fit_task(held, {0, 1}, {"y", {}});
      }),
      "a training row of each class of 'y'; received none of class 'b', which has 2 rows in the table");
  Table counted = table_of({numbers("y", {0, 0, 1, 1})});
  expect_has(error_of([&] {
               fit_task(counted, {0, 1}, {"y", {}});
             }),
             "give more of its rows; `.likelihood=gaussian` fits them as numbers");
  expect_has(error_of([&] { task_for(table_of({categories("y", {0, 0}, {"a"})})); }), "at least two classes");
  expect_has(error_of([&] {
               task_for(table_of({numbers("y", {1, 1, 2, 2, 3, 3})}), LikelihoodKind::bernoulli);
             }),
             "two classes in 'y' for `.likelihood=bernoulli`; received 3");
  expect_has(error_of([&] {
               task_for(table_of({categories("y", {0, kNone, 0, 1, 1}, {"a", "b"})}));
             }),
             "row 2: expected a value in the target 'y'; received a missing cell");
}

TEST(Target, LikelihoodsAreNamed) {
  EXPECT_EQ(task_of(likelihood_named("cox")), TaskKind::events);
  expect_has(error_of([] { likelihood_named("poison"); }), "did you mean 'poisson'?");
  expect_has(error_of([] { task_for(table_of({numbers("y", {1})}), LikelihoodKind::cox); }),
             "leave `.target` out");
  expect_has(error_of([] {
               task_for(table_of({categories("y", {0, 0}, {"a"})}), LikelihoodKind::poisson);
             }),
             "`.likelihood=poisson` needs numbers");
  EXPECT_THROW(task_for(table_of({{"y", ColumnKind::datetime, {0, 1}, {}}})), std::invalid_argument);
}

TEST(Classes, AnEncoderKeepsTheirNames) {
  Table table = table_of({numbers("x", {1, 2, 3, 4}), categories("y", {0, 1, 0, 1}, {"red", "blue"})});
  Encoder e = Encoder::fit(table, all_rows(table), {"y"});
  Encoder back = Encoder::from_json(nlohmann::json::parse(e.to_json().dump()));
  EXPECT_EQ(back.schema().task.levels, (Words{"blue", "red"}));
  EXPECT_EQ(back.target(table), e.target(table));
  nlohmann::json bad = e.to_json();
  bad["levels"] = {"only"};
  EXPECT_THROW(Encoder::from_json(bad), std::invalid_argument);
  bad = e.to_json();
  bad["likelihood"] = "poisson";
  EXPECT_THROW(Encoder::from_json(bad), std::invalid_argument);
}

TEST(Target, RowsWithoutOneAreLeftOut) {
  Table t = table_of({numbers("x", {1, 2, 3}), numbers("y", {1, kNone, 3})});
  Table kept = with_target(t, "y");
  EXPECT_EQ(kept.rows, 2);
  EXPECT_EQ(kept.find("x")->values, (std::vector<double>{1, 3}));
  EXPECT_EQ(with_target(t, "x").rows, 3);
  // The message gives a bad cell's row in the whole table, rows without a target included.
  Table gaps = table_of({numbers("y", {kNone, 1, 2, 0.5})});
  Task counts;
  counts.kind = TaskKind::counts;
  expect_has(error_of([&] { target_values(with_target(gaps, "y"), "y", counts); }),
             "t.csv: data row 4: expected counts");
  EXPECT_EQ(with_target(t, "absent").rows, 3);
  expect_has(error_of([&] { with_target(table_of({numbers("y", {kNone})}), "y"); }),
             "rows with a value in the target");
}

TEST(Target, DressedNumbersAreNoClasses) {
  Table t = table_of({categories("y", {0, 0, 1, 1}, {"1,000", "2,500"})});
  expect_has(error_of([&] { task_for(t); }),
             "expected numbers or names of classes in 'y'; received '1,000'; write");
}

}  // namespace
}  // namespace slimbayes
