#include "slimbayes/answers/pixel_totals.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/pixels.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

using nlohmann::json;

Classes with_entropies(const at::Tensor& p) {
  const at::Tensor entropy = -at::special_xlogy(p, p).sum(1);
  return {p, entropy, 0.75 * entropy};
}

/// Answers that are certain of these classes. [n, C]
Classes certain(const std::vector<int64_t>& predicted, int64_t classes) {
  return with_entropies(at::one_hot(at::tensor(predicted, at::kLong), classes).to(at::kDouble));
}

TEST(PixelTotals, ByHand) {
  PixelTotals totals({"sky", "road", "car", "tree"});
  totals.add(certain({0, 0, 1}, 4), row({0, 1, 1}));
  totals.add(certain({2, 1, 0}, 4), row({kVoid, 0, 0}));
  const json report = fields_to_json(totals.report());
  // sky: 2 right of 3, predicted 3 times; road: 1 right of 2, predicted twice; no pixel is car or tree.
  EXPECT_EQ(report["pixels"], 5);
  EXPECT_EQ(report["void"], 1);
  EXPECT_DOUBLE_EQ(report["accuracy"], 3 / 5.);
  EXPECT_DOUBLE_EQ(report["iou"]["sky"], 2 / 4.);
  EXPECT_DOUBLE_EQ(report["iou"]["road"], 1 / 3.);
  EXPECT_DOUBLE_EQ(report["miou"], (2 / 4. + 1 / 3.) / 2);
  EXPECT_DOUBLE_EQ(report["class_accuracy"]["sky"], 2 / 3.);
  EXPECT_DOUBLE_EQ(report["mpa"], (2 / 3. + 1 / 2.) / 2);
  EXPECT_EQ(report["absent"], (json{"car", "tree"}));
  EXPECT_EQ(report["confusion"].dump(), "[[2,1,0,0],[1,1,0,0],[0,0,0,0],[0,0,0,0]]");
  EXPECT_EQ(report["base_class"], "sky");
  EXPECT_DOUBLE_EQ(report["base_rate"], 3 / 5.);
  EXPECT_DOUBLE_EQ(report["ece"], 2 / 5.);  // always certain, right in 3 of 5
  EXPECT_EQ(report["errors"]["wrong"], 2);
  EXPECT_DOUBLE_EQ(report["errors"]["auroc"]["entropy"], 0.5);  // equally certain everywhere
}

TEST(PixelTotals, AreThoseOfAllRowsHoweverTheyAreCut) {
  const int64_t n = 3000;
  const Classes p = with_entropies(at::softmax(2 * Stream(1).normal({n, 4}), 1));
  const at::Tensor y = (4 * Stream(2).uniform({n})).floor();
  PixelTotals cut({"a", "b", "c", "d"}), whole({"a", "b", "c", "d"});
  whole.add(p, y);
  for (const auto& [low, size] : {std::pair{0, 1}, {1, 1700}, {1701, 1299}}) {
    const auto part = [low = low, size = size](const at::Tensor& x) { return x.narrow(0, low, size); };
    cut.add({part(p.probabilities), part(p.predictive_entropy), part(p.expected_entropy)}, part(y));
  }
  const json report = fields_to_json(cut.report()),
             rows = fields_to_json(classes_report(p, y, {"a", "b", "c", "d"}));
  for (const char* key : {"accuracy", "nll", "brier", "nll_constant", "base_rate", "f1_macro", "ece_width"})
    EXPECT_NEAR(report[key].get<double>(), rows[key].get<double>(), 1e-12) << key;
  for (const char* key : {"ece", "mce"})  // of bins whose edges are rounded
    EXPECT_NEAR(report[key].get<double>(), rows[key].get<double>(), 5e-3) << key;
  EXPECT_EQ(report["confusion"], rows["confusion"]);
  EXPECT_NEAR(report["mean_entropy"].get<double>(), p.predictive_entropy.mean().item<double>(), 1e-12);
  EXPECT_NEAR(report["mean_mutual_information"].get<double>(), 0.25 * report["mean_entropy"].get<double>(),
              1e-12);
  EXPECT_EQ(report["errors"], fields_to_json(whole.report().pixels.value().errors));
  ErrorsReport errors = errors_report(p, y, {{"entropy", p.predictive_entropy}});
  EXPECT_NEAR(report["errors"]["aupr_err"]["entropy"].get<double>(), errors.aupr_err.value()["entropy"],
              1e-3);
  double rows_of_bins = 0;
  for (const json& one : report["reliability"]["rows"]) rows_of_bins += one.get<double>();
  EXPECT_EQ(rows_of_bins, n);
  EXPECT_FALSE(report["reliability"].contains("weight"));  // each pixel counts once
}

TEST(PixelTotals, OfVoidPixelsAloneAreRefused) {
  PixelTotals totals({"a", "b"});
  totals.add(certain({0, 1}, 2), row({kVoid, kVoid}));
  try {
    totals.report();
    ADD_FAILURE() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("label maps that are void everywhere"), std::string::npos);
  }
  totals.add(certain({0}, 2), row({0}));
  EXPECT_EQ(totals.report().pixels.value().errors.absent, "no pixel is wrong");
}

}  // namespace
}  // namespace slimbayes
