#include "slimbayes/encoding/target_bounds.h"

#include <cmath>
#include <limits>

#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

TEST(TargetBounds, AreReadFromText) {
  EXPECT_FALSE(bounds_named("").has_value());
  EXPECT_EQ(bounds_named("0,1"), (TargetBounds{0, 1}));
  EXPECT_EQ(bounds_named(" -2.5 , +1e3 "), (TargetBounds{-2.5, 1000}));
  EXPECT_EQ(bounds_named("0,"), (TargetBounds{0, kNoEnd}));
  EXPECT_EQ(bounds_named(",7"), (TargetBounds{-kNoEnd, 7}));
  EXPECT_EQ(bounds_named("-inf,7"), (TargetBounds{-kNoEnd, 7}));
  EXPECT_EQ(bounds_named("0,inf"), (TargetBounds{0, kNoEnd}));
  for (const char* wrong : {"1", "1,0", "0,0", "a,1", "0,1,2", "0;1", "nan,1", "0x1,2"})
    expect_has(error_of([&] { bounds_named(wrong); }), "expected bounds LOW,HIGH");
  for (const char* wrong : {",", "-inf,inf", " , "})
    expect_has(error_of([&] { bounds_named(wrong); }), "at least one finite end");
  expect_has(error_of([] { bounds_named("-1e150,1e150"); }), "a distance from 1e-140 to 1e+140");
  EXPECT_EQ(TargetBounds({0, 1}).in_words(), "above 0 and below 1");
  EXPECT_EQ(TargetBounds({0, kNoEnd}).in_words(), "above 0");
  EXPECT_EQ(TargetBounds({-kNoEnd, 2}).in_words(), "below 2");
}

TEST(TargetBounds, TheTransformIsThatOfItsDefinition) {
  EXPECT_DOUBLE_EQ(TargetBounds({-1, 3}).unbounded(2), std::log(3.0));
  EXPECT_DOUBLE_EQ(TargetBounds({-1, kNoEnd}).unbounded(2), std::log(3.0));
  EXPECT_DOUBLE_EQ(TargetBounds({-kNoEnd, 7}).unbounded(2), -std::log(5.0));
}

Table shares(std::vector<double> y) {
  std::vector<double> x(y.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i);
  return table_of({numbers("x", x), numbers("y", std::move(y))});
}

TargetOptions within(const TargetBounds& bounds) { return {.name = "y", .bounds = bounds}; }

TEST(TargetBounds, ATaskStandardisesTheTransform) {
  const Table table = shares({0.2, 0.5, 0.7, 0.9});
  const Task task = fit_task(table, all_rows(table), within({0, 1}));
  double mean = 0, square = 0;
  for (const double y : target_values(table, "y", task)) {
    mean += y / 4;
    square += y * y / 4;
  }
  EXPECT_NEAR(mean, 0, 1e-14);
  EXPECT_NEAR(square, 1, 1e-13);
  EXPECT_NEAR(task.y_shift, (std::log(0.25) + std::log(7.0 / 3) + std::log(9.0)) / 4, 1e-14);
  EXPECT_NEAR(target_sd(task), std::sqrt(0.066875), 1e-14);  // in the target's units
  EXPECT_DOUBLE_EQ(task.low, 0.2);
}

TEST(TargetBounds, WrongTrainingTargetsAreNamed) {
  const Table beyond = shares({0.2, 0.5, 1.5, -3}), at_end = shares({0.2, 0, 1, 0.4});
  const auto fit = [](const Table& table) { return fit_task(table, all_rows(table), within({0, 1})); };
  EXPECT_THROW(fit(beyond), DataError);
  expect_has(error_of([&] { fit(beyond); }), "row 3");
  expect_has(error_of([&] { fit(beyond); }),
             "expected a target 'y' above 0 and below 1 (`.bounds`); received 1.5");
  EXPECT_THROW(fit(at_end), std::invalid_argument);
  expect_has(error_of([&] { fit(at_end); }), "2 of 4 training rows exactly at a bound, the first in ");
  expect_has(error_of([&] { fit(at_end); }), "widen `.bounds`, or leave such rows out");
  // Rows beside those of training are checked too, and rows of later data.
  expect_has(error_of([&] { fit_task(beyond, {0, 1}, within({0, 1})); }), "received 1.5");
  const Task task = fit_task(beyond, {0, 1}, within({-10, 10}));
  expect_has(error_of([&] { target_values(shares({11}), "y", task); }),
             "received 11; correct or remove the row");
  expect_has(error_of([&] {
               check_standardised(shares({kNone, 10}), "y", task);
             }),
             "at a bound the transform");
  EXPECT_EQ(error_of([&] { check_standardised(shares({kNone, 9}), "y", task); }), "no error");
}

TEST(TargetBounds, AreOfNumbersAlone) {
  const Table classes = table_of({categories("y", {0, 1, 0, 1}, {"a", "b"})});
  expect_has(error_of([&] {
               fit_task(classes, all_rows(classes), within({0, 1}));
             }),
             "expected numbers in the target 'y' for `.bounds`");
  const Table two = table_of({numbers("y", {0, 1, 0, 1})});
  expect_has(error_of([&] { fit_task(two, all_rows(two), within({-1, 2})); }), "`.likelihood=gaussian`");
}

TEST(TargetBounds, AnEncoderKeepsThemAlone) {
  const Table table = shares({0.2, 0.5, 0.7, 0.9, 0.3});
  EncoderOptions options{.target = "y"};
  const Encoder plain = Encoder::fit(table, all_rows(table), options);
  EXPECT_FALSE(plain.to_json().contains("bounds"));
  for (const TargetBounds& bounds : {TargetBounds{0, 1}, TargetBounds{0, kNoEnd}, TargetBounds{-kNoEnd, 1}}) {
    options.bounds = bounds;
    const Encoder one = Encoder::fit(table, all_rows(table), options);
    const Encoder back = Encoder::from_json(one.to_json());
    EXPECT_EQ(back.schema().task.bounds, bounds);
    EXPECT_EQ(back.schema().task.bounded_sd, one.schema().task.bounded_sd);
    EXPECT_EQ(back.target(table), one.target(table));
    EXPECT_EQ(task_from_json(to_json(one.schema().task), "test").bounds, bounds);
    nlohmann::json damaged = one.to_json();
    damaged["bounds"] = {{"low", 2}, {"high", 1}, {"sd", 1}};
    expect_has(error_of([&] { Encoder::from_json(damaged); }), "the model file is damaged");
  }
}

}  // namespace
}  // namespace slimbayes
