#include "slimbayes/catalog/fields_from_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/answers/evaluation.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// The report as the ranks of a comparison send it.
std::vector<uint8_t> packed(const Evaluation& report) { return json::to_msgpack(fields_to_json(report)); }

/// Returns the report that was read from itself.
Evaluation read_again(const Evaluation& report) {
  const std::vector<uint8_t> bytes = packed(report);
  Evaluation again = fields_from_json<Evaluation>(json::from_msgpack(bytes));
  EXPECT_EQ(packed(again), bytes);
  return again;
}

TEST(fields_from_json, KeepsNumbersThatAreNotFinite) {
  Evaluation report{.n = 5, .nll = std::numeric_limits<double>::infinity(), .coverage = std::nan("")};
  report.numbers = NumberScores{.mae = std::nan(""), .crps = 1e-300};
  report.persistence = ForecastScores{.n = 2, .season = "24 steps"};
  const Evaluation again = read_again(report);
  EXPECT_EQ(again.nll, report.nll);
  EXPECT_TRUE(std::isnan(again.coverage.value()));
  EXPECT_TRUE(std::isnan(again.numbers.value().mae));
  EXPECT_EQ(again.numbers->crps, 1e-300);
  EXPECT_EQ(again.persistence.value().season, "24 steps");
}

TEST(fields_from_json, TellsWhichPartsAreThere) {
  Evaluation report;
  EXPECT_FALSE(read_again(report).numbers || read_again(report).classes || read_again(report).events);
  report.classes = ClassScores{.classes = {"a", "b"}, .confusion = {{{1, 2}, {3, 4}}}};
  Evaluation again = read_again(report);
  EXPECT_FALSE(again.numbers || again.pixels || again.classes.value().other_bins);
  report.classes->other_bins = OtherBins{};
  report.pixels = PixelScores{.iou = {{"a", 0.5}}};
  again = read_again(report);
  EXPECT_TRUE(again.pixels && again.classes.value().other_bins);
}

TEST(fields_from_json, ThrowsForAMissingField) {
  EXPECT_THROW(fields_from_json<Evaluation>(json{{"n", 5}}), std::logic_error);
}

}  // namespace
}  // namespace slimbayes
