// Every metric of rows with whole weights is that of the rows repeated.
#include "slimbayes/answers/row_mean.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/ranking.h"
#include "slimbayes/answers/selective.h"
#include "slimbayes/answers/uncertainty_report.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Twelve rows with answers of each kind, their targets and whole weights. The weights sum up to 40, of which
/// every share of kSharesKept is whole.
struct WeighedRows {
  Predictive numbers, mixture, classes, binary, counts;
  at::Tensor y, label, bit, count, weight;
};

Classes classes_of(const at::Tensor& logits) {
  const at::Tensor p = at::softmax(logits, 1), entropy = -(p * p.log()).sum(1);
  return {p, entropy, 0.7 * entropy};
}

WeighedRows weighed_rows() {
  constexpr int64_t kRows = 12;
  const Stream stream(3);
  const auto normal = [&](const char* name) { return stream.split(name).normal({kRows}, at::kDouble); };
  const auto positive = [&](const char* name) { return normal(name).square() + 0.1; };
  WeighedRows rows;
  const at::Tensor mean = normal("mean"), noise = positive("noise"), spread = positive("spread");
  rows.numbers = Regression{mean, noise, spread};
  rows.mixture = mixed({{.weight = 2, .mean = mean, .aleatoric_var = noise, .epistemic_var = spread},
                        {.weight = 1, .mean = mean + 1, .aleatoric_var = spread, .epistemic_var = noise}});
  rows.classes = classes_of(at::stack({normal("a"), normal("b"), normal("c")}, 1));
  rows.binary = classes_of(at::stack({normal("d"), normal("e")}, 1));
  rows.counts = Counts{{0.3 * mean, 0.2 * spread}};
  rows.y = mean + normal("error");
  rows.label = row({0, 1, 2, 2, 1, 0, 0, 2, 1, 1, 0, 2});
  rows.bit = row({0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1});
  rows.count = row({0, 1, 3, 0, 2, 5, 1, 1, 0, 2, 4, 0});
  rows.weight = row({1, 5, 2, 7, 1, 3, 4, 2, 6, 1, 3, 5});
  return rows;
}

/// Each row as often as its weight says, without weights.
WeighedRows repeated(const WeighedRows& rows) {
  const at::Tensor index = at::repeat_interleave(rows.weight.to(at::kLong));
  const auto some = [&](const at::Tensor& x) { return x.index_select(0, index); };
  return {take(rows.numbers, index), take(rows.mixture, index),
          take(rows.classes, index), take(rows.binary, index),
          take(rows.counts, index),  some(rows.y),
          some(rows.label),          some(rows.bit),
          some(rows.count),          {}};
}

/// A metric, of which the fields of a report that count rows are left out.
struct RowMetricCase {
  std::string name;
  std::function<json(const WeighedRows&)> metric;
};

void PrintTo(const RowMetricCase& one, std::ostream* out) { *out << one.name; }

json listed(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kDouble).contiguous().reshape({-1});
  return std::vector<double>(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
}

json without_row_counts(json fields) {
  for (const char* name : {"n", "total_weight", "effective_rows", "confusion"}) fields.erase(name);
  if (fields.contains("selective")) fields["selective"].erase("rows");
  if (fields.contains("errors")) fields["errors"].erase("wrong");
  if (fields.contains("reliability")) {
    fields["reliability"].erase("rows");
    fields["reliability"].erase("weight");
  }
  return fields;
}

json report_fields(const Predictive& p, const at::Tensor& y, const at::Tensor& weight,
                   const ReportOptions& options = {}) {
  return without_row_counts(fields_to_json(report(p, y, options, weight)));
}

json uncertainty_fields(const Predictive& p, const at::Tensor& y, const at::Tensor& weight) {
  return without_row_counts(fields_to_json(uncertainty_report(p, y, {}, weight)));
}

const Regression& normal_of(const WeighedRows& r) { return std::get<Regression>(r.numbers); }
const Classes& three_of(const WeighedRows& r) { return std::get<Classes>(r.classes); }

json calibration_errors(const WeighedRows& r, Bins kind, int64_t bins) {
  const CalibrationError e = calibration_error(three_of(r), r.label, kind, bins, r.weight);
  const Reliability d = reliability(three_of(r), r.label, kind, bins, r.weight);
  return {e.expected, e.maximum, listed(d.confidence), listed(d.accuracy)};
}

json of_ranking(const WeighedRows& r, double (*metric)(const at::Tensor&, const at::Tensor&,
                                                       const at::Tensor&, const at::Tensor&)) {
  const auto part = [&](const at::Tensor& x, double bit) {
    return x.defined() ? x.masked_select(r.bit == bit) : x;
  };
  const at::Tensor coarse = (2 * r.y).round();  // with ties
  return {metric(part(r.y, 0), part(r.y, 1), part(r.weight, 0), part(r.weight, 1)),
          metric(part(coarse, 0), part(coarse, 1), part(r.weight, 0), part(r.weight, 1))};
}

std::vector<RowMetricCase> row_metric_cases() {
  return {
      {"mae", [](const WeighedRows& r) { return json(mean_absolute_error(normal_of(r), r.y, r.weight)); }},
      {"rmse",
       [](const WeighedRows& r) { return json(root_mean_squared_error(normal_of(r), r.y, r.weight)); }},
      {"crps", [](const WeighedRows& r) { return json(crps(normal_of(r), r.y, r.weight)); }},
      {"coverage", [](const WeighedRows& r) { return json(coverage(normal_of(r), r.y, 0.7, r.weight)); }},
      {"width", [](const WeighedRows& r) { return json(interval_width(normal_of(r), 0.7, r.weight)); }},
      {"interval_score",
       [](const WeighedRows& r) { return json(interval_score(normal_of(r), r.y, 0.7, r.weight)); }},
      {"pit_histogram",
       [](const WeighedRows& r) { return listed(pit_histogram(normal_of(r), r.y, 5, r.weight)); }},
      {"calibration_curve",
       [](const WeighedRows& r) {
         const CalibrationCurve c = calibration_curve(normal_of(r), r.y, 19, r.weight);
         return json{listed(c.coverage), c.area};
       }},
      {"mean_nll",
       [](const WeighedRows& r) {
         return json{*mean_nll(r.numbers, r.y, r.weight), *mean_nll(r.classes, r.label, r.weight),
                     *mean_nll(r.counts, r.count, r.weight)};
       }},
      {"numbers", [](const WeighedRows& r) { return report_fields(r.numbers, r.y, r.weight); }},
      {"mixture", [](const WeighedRows& r) { return report_fields(r.mixture, r.y, r.weight); }},
      {"counts", [](const WeighedRows& r) { return report_fields(r.counts, r.count, r.weight); }},
      {"classes",
       [](const WeighedRows& r) {
         ReportOptions o{.levels = {"a", "b", "c"}};
         o.set = three_of(r).probabilities > 0.3;
         return report_fields(r.classes, r.label, r.weight, o);
       }},
      {"binary",
       [](const WeighedRows& r) {
         return report_fields(r.binary, r.bit, r.weight, {.levels = {"a", "b"}});
       }},
      {"uncertainty_of_numbers",
       [](const WeighedRows& r) { return uncertainty_fields(r.numbers, r.y, r.weight); }},
      {"uncertainty_of_counts",
       [](const WeighedRows& r) { return uncertainty_fields(r.counts, r.count, r.weight); }},
      {"uncertainty_of_classes",
       [](const WeighedRows& r) { return uncertainty_fields(r.classes, r.label, r.weight); }},
      {"bins_of_equal_mass", [](const WeighedRows& r) { return calibration_errors(r, Bins::equal_mass, 4); }},
      {"bins_of_equal_width",
       [](const WeighedRows& r) { return calibration_errors(r, Bins::equal_width, 6); }},
      {"confusion", [](const WeighedRows& r) { return listed(confusion(three_of(r), r.label, r.weight)); }},
      {"auroc", [](const WeighedRows& r) { return of_ranking(r, auroc); }},
      {"average_precision", [](const WeighedRows& r) { return of_ranking(r, average_precision); }},
      {"selective_with_ties",
       [](const WeighedRows& r) {
         return json(selective_means((2 * r.y).round(), r.y.square(), {1, 0.9, 0.5, 0.25, 0.025}, r.weight));
       }},
  };
}

void expect_same_numbers(const json& a, const json& b, const std::string& where) {
  ASSERT_EQ(a.is_number(), b.is_number()) << where;
  if (a.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-12 * (1 + std::abs(b.get<double>()))) << where;
    return;
  }
  ASSERT_EQ(a.size(), b.size()) << where;
  if (a.is_primitive()) {
    EXPECT_EQ(a, b) << where;
    return;
  }
  for (auto i = a.begin(), k = b.begin(); i != a.end(); ++i, ++k)
    expect_same_numbers(*i, *k, where + (a.is_object() ? "." + i.key() : ""));
}

class RowMetricOfWeights : public ::testing::TestWithParam<RowMetricCase> {};

TEST_P(RowMetricOfWeights, IsThatOfTheRowsRepeated) {
  const WeighedRows rows = weighed_rows();
  const json weighed = GetParam().metric(rows), each = GetParam().metric(repeated(rows));
  expect_same_numbers(weighed, each, GetParam().name);
  WeighedRows scaled = rows;
  scaled.weight = rows.weight * 0.37;
  if (GetParam().name != "confusion")
    expect_same_numbers(GetParam().metric(scaled), weighed, GetParam().name + " by other units");
}

INSTANTIATE_TEST_SUITE_P(Metrics, RowMetricOfWeights, ::testing::ValuesIn(row_metric_cases()),
                         [](const auto& one) { return one.param.name; });

TEST(RowMean, OfWeightsIsKishsEffectiveNumber) {
  EXPECT_DOUBLE_EQ(effective_rows(row({3, 3, 3, 3})), 4);
  EXPECT_DOUBLE_EQ(effective_rows(row({1, 2, 3})), 36.0 / 14);
  EXPECT_DOUBLE_EQ(effective_rows(row({1e200, 2e200, 3e200})), 36.0 / 14);
  const WeighedRows rows = weighed_rows();
  const Evaluation out = report(rows.numbers, rows.y, {}, rows.weight);
  EXPECT_EQ(out.n, 12);
  EXPECT_EQ(out.total_weight, 40);
  EXPECT_DOUBLE_EQ(out.effective_rows.value(), 1600.0 / 180);
  EXPECT_FALSE(report(rows.numbers, rows.y, {}).effective_rows);
}

TEST(RowMean, ConfusionOfAReportCountsRows) {
  const WeighedRows rows = weighed_rows();
  const Evaluation out = report(rows.binary, rows.bit, {.levels = {"a", "b"}}, rows.weight);
  EXPECT_EQ(out.classes->confusion, report(rows.binary, rows.bit, {.levels = {"a", "b"}}).classes->confusion);
}

TEST(RowMean, RefusesWeightsThatAreNone) {
  const WeighedRows rows = weighed_rows();
  for (const at::Tensor& weight : {at::zeros({12}, at::kDouble), -rows.weight, rows.weight / 0,
                                   rows.weight.slice(0, 0, 11), rows.weight.unsqueeze(1)}) {
    EXPECT_THROW(report(rows.numbers, rows.y, {}, weight), std::invalid_argument);
    EXPECT_THROW(report(rows.classes, rows.label, {.levels = {"a", "b", "c"}}, weight),
                 std::invalid_argument);
    EXPECT_THROW(report(rows.counts, rows.count, {}, weight), std::invalid_argument);
    EXPECT_THROW(selective_means(rows.y, rows.y, {0.5}, weight), std::invalid_argument);
    EXPECT_THROW(pit_histogram(normal_of(rows), rows.y, 3, weight), std::invalid_argument);
  }
}

}  // namespace
}  // namespace slimbayes
