#include "slimbayes/model/answers.h"

#include <ATen/ATen.h>

#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

Model model_of(const Table& table) {
  FitOptions fit;
  fit.target = "y";
  fit.method = "dbk";
  fit.options = {{"steps", 5}};
  fit.ignore = {"true_mean", "true_sd"};
  return fit_model(table, fit);
}

/// Returns the table with an extreme value of x in these rows.
Table with_far(Table table, const std::vector<int64_t>& rows) {
  for (Column& column : table.columns) {
    if (column.name != "x") continue;
    for (int64_t at : rows) column.values[static_cast<size_t>(at)] = 1e200;
  }
  return table;
}

TEST(Answers, OfSomeExamplesAreThoseToThemAlone) {
  const Table table = with_far(generate("steps", 30, Stream(1)), {4, 17});
  const Model model = model_of(generate("steps", 60, Stream(1)));
  const std::vector<int64_t> places = {1, 4, 5, 20, 29};
  const Answers some = take(model.answers(table, {{0.9}}), places),
                alone = model.answers(take_rows(table, places), {{0.9}});
  EXPECT_EQ(some.rows, (std::vector<int64_t>{0, 2, 3, 4}));
  EXPECT_EQ(some.rows, alone.rows);
  ASSERT_EQ(some.bad.size(), 1u);
  EXPECT_EQ(some.bad[0].row, 1);
  EXPECT_TRUE(at::equal(std::get<Regression>(some.answer).mean, std::get<Regression>(alone.answer).mean));
  EXPECT_TRUE(at::equal(some.levels[0].interval->upper, alone.levels[0].interval->upper));
}

TEST(Answers, ARowThatIsTooFarDoesNotKeepTheOthersFromTheirs) {
  const Table table = generate("steps", 60, Stream(1));
  const Model model = model_of(table);
  const Table far = with_far(table, {4, 17});
  const Answers a = model.answers(far, {{0.9}});
  ASSERT_EQ(a.rows.size(), 58u);
  ASSERT_EQ(a.bad.size(), 2u);
  EXPECT_EQ(a.bad[0].row, 4);
  EXPECT_EQ(a.bad[1].row, 17);
  const Table others = take_rows(table, a.rows);
  const Regression p = model.predict(others);
  EXPECT_TRUE(at::equal(std::get<Regression>(a.answer).mean, p.mean));
  EXPECT_TRUE(at::equal(a.levels[0].interval->upper, model.interval(p, 0.9).upper));
  EXPECT_TRUE(model.answers(table).bad.empty());
  EXPECT_TRUE(model.answers(table).levels.empty());

  expect_has(error_of([&] { model.answer(far); }), "data row 5: expected a number within 1e+06 half-ranges");
  EXPECT_THROW(model.ood(far), DataError);
  EXPECT_THROW(model.evaluate(far), DataError);
  std::vector<BadRow> bad;
  Evaluation report = model.evaluate(far, 0.95, &bad);
  EXPECT_EQ(bad.size(), 2u);
  EXPECT_EQ(report.left_out, 2u);
  report.left_out.reset();
  EXPECT_EQ(fields_to_json(report), fields_to_json(model.evaluate(others)));
}

TEST(Answers, AScaleWhoseSquareOverflowsIsRefusedWithTheFile) {
  TensorFile file = model_of(generate("steps", 40, Stream(1))).to_file();
  nlohmann::json encoder = nlohmann::json::parse(file.metadata["encoder"]);
  for (double scale : {1e200, 1e-200}) {
    encoder["y_scale"] = scale;
    file.metadata["encoder"] = encoder.dump();
    expect_has(trial::message_of([&] { Model::from_file(file, "m"); }),
               "a positive scale, from 1e-140 to 1e140");
  }
}

/// The weights are finite but so large that no answer is finite.
TEST(Answers, AModelWithoutAnyFiniteAnswerIsToBlame) {
  const Table table = generate("steps", 60, Stream(1));
  FitOptions fit;
  fit.target = "y";
  fit.options = {{"steps", 5}};
  fit.method = "dnn";
  fit.ignore = {"true_mean", "true_sd"};
  TensorFile file = fit_model(table, fit).to_file();
  for (auto& [name, tensor] : file.tensors) {
    if (!name.starts_with("network.")) continue;
    tensor.type = StoredType::f64;
    const std::vector<double> huge(tensor.bytes.size() / sizeof(float), 1e300);
    tensor.bytes = trial::raw(huge);
  }
  const Model model = Model::from_file(file, "m.safetensors");
  for (const Table& some : {table, with_far(table, {4}), take_rows(table, {0})}) {
    std::string text = trial::message_of([&] { model.answers(some, {{0.9}}); });
    EXPECT_EQ(text.find("m.safetensors: expected a model with finite answers"), 0u) << text;
    EXPECT_THROW(model.evaluate(some), DataError);
  }
  EXPECT_TRUE(model.answers(take_rows(table, {}), {{0.9}}).rows.empty());
  // If only the rows are too far, the rows are named as bad and the model is not blamed.
  EXPECT_EQ(model_of(table).answers(take_rows(with_far(table, {4}), {4}), {{0.9}}).bad.size(), 1u);
}

}  // namespace
}  // namespace slimbayes
