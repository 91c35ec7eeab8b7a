#include "slimbayes/model/events.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"

namespace slimbayes {
namespace {

FitOptions cox_fit(const std::string& domain) {
  FitOptions fit;
  fit.method = "sv-rbf";
  fit.likelihood = LikelihoodKind::cox;
  fit.domain = domain;
  fit.ignore = {"true_intensity"};
  fit.options = {{"steps", 400}, {"rank", 25}};
  return fit;
}

Table scaled(Table table, double factor) {
  for (const char* name : {"x1", "x2"}) {
    for (Column& column : table.columns) {
      if (column.name != name) continue;
      for (double& value : column.values) value *= factor;
    }
  }
  return table;
}

TEST(Events, TheExpectedCountIsThatOfTheWholeTableWhateverTheSplit) {
  Table table = generate("cox", 600, Stream(0));
  for (double held_out : {0.0, 0.4}) {
    FitOptions fit = cox_fit("0:1,0:2");
    fit.test_fraction = held_out;
    Model model = fit_model(table, fit);
    double expected =
        expected_events(model.fitted(), std::get<Encoder>(model.encoder()), model.probes()).value;
    EXPECT_NEAR(expected / static_cast<double>(table.rows), 1, 0.06) << held_out;
    EXPECT_EQ(model.evaluate(table).events.value().expected, expected);
  }
}

TEST(Events, TheIntensityIsPerUnitOfTheUsersCoordinates) {
  Table table = generate("cox", 300, Stream(0)), wide = scaled(table, 4);  // a factor of 4 is exact in binary
  Model near = fit_model(table, cox_fit("0:1,0:2")), far = fit_model(wide, cox_fit("0:4,0:8"));
  at::Tensor a = mean(std::get<Intensity>(near.answer(table)).rate),
             b = mean(std::get<Intensity>(far.answer(wide)).rate);
  EXPECT_TRUE(at::allclose(a, 16 * b, 1e-12, 0));
  // The NLL changes by the log of the volume; its difference from the uniform density's NLL does not change.
  const Evaluation r = near.evaluate(table), s = far.evaluate(wide);
  EXPECT_NEAR(s.nll - r.nll, std::log(16), 1e-10);
  EXPECT_NEAR(s.events.value().nll_uniform - r.events.value().nll_uniform, std::log(16), 1e-10);
}

/// Returns `near` events around .3137 and `wide` events that are uniform on [0, 1].
Table spiked(int64_t near, int64_t wide, double sd) {
  Column column{"x", ColumnKind::numeric, {}, {}};
  Stream stream(7);
  for (int64_t i = 0; i < near; ++i)
    column.values.push_back(0.3137 + sd * stream.normal(static_cast<uint64_t>(i)));
  for (int64_t i = 0; i < wide; ++i)
    column.values.push_back(stream.split("wide").uniform(static_cast<uint64_t>(i)));
  return {"spiked", {column}, near + wide};
}

/// Returns the middles of `count` equal cells of [0, 1].
Table cells(int64_t count) {
  Column column{"x", ColumnKind::numeric, {}, {}};
  for (int64_t i = 0; i < count; ++i)
    column.values.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(count));
  return {"cells", {column}, count};
}

// A fixed rule of 200 nodes on the axis, 5e-3 apart, would miss a peak of sd 1e-3 or count it twice.
TEST(Events, TheExpectedCountIsTheIntegralOfTheIntensityHoweverNarrowItsPeaks) {
  Table table = spiked(900, 100, 0.001);
  FitOptions fit;
  fit.method = "sv-dbk";
  fit.likelihood = LikelihoodKind::cox;
  fit.domain = "0:1";
  fit.valid_fraction = 0.2;
  fit.options = {{"steps", 300}, {"rank", 32}};
  Model model = fit_model(table, fit);
  const double by_hand = mean(std::get<Intensity>(model.answer(cells(200'000))).rate).mean().item<double>();
  const EventScores report = model.evaluate(take_rows(table, {0, 950})).events.value();  // any rows will do
  EXPECT_NEAR(report.expected, by_hand, 1e-4 * by_hand);
  EXPECT_FALSE(report.expected_error);
  Model back = Model::from_file(model.to_file(), "memory");
  EXPECT_EQ(back.evaluate(table).events.value().expected, report.expected);
}

TEST(Events, HaveNoRegressionToPredict) {
  Table table = generate("cox", 100, Stream(0));
  FitOptions fit = cox_fit("0:1,0:2");
  fit.options["steps"] = 1;
  Model model = fit_model(table, fit);
  EXPECT_THROW(model.predict(table), std::invalid_argument);
  EXPECT_EQ(model.ood(table).size(), 1u);
  Model back = Model::from_file(model.to_file(), "memory");
  EXPECT_TRUE(at::equal(std::get<Intensity>(back.answer(table)).rate.log_mean,
                        std::get<Intensity>(model.answer(table)).rate.log_mean));
}

}  // namespace
}  // namespace slimbayes
