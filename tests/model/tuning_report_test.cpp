#include "slimbayes/model/tuning_report.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace slimbayes {
namespace {

using nlohmann::json;

const json kReport = {
    {"options", {"beta"}},
    {"combinations", 3},
    {"tried", {{{"beta", 0.0}, {"valid_nll", 1.5}}, {{"beta", 1.0}, {"failed", "not positive definite"}}}},
    {"best", {{"beta", 0.0}, {"valid_nll", 1.5}}},
    {"spread", 0.0},
    {"untried", 1}};

TEST(TuningReport, IsTheSameJsonAfterAFile) {
  const TuningReport report = tuning_from_json(kReport);
  EXPECT_EQ(fields_to_json(report).dump(), kReport.dump());
  EXPECT_EQ(report.tried[1].failed.value(), "not positive definite");
  EXPECT_EQ(report.best, report.tried[0]);
  EXPECT_FALSE(tuning_interrupted(report) || tuning_interrupted({}));
  json stopped = kReport;
  stopped["interrupted"] = true;
  EXPECT_TRUE(tuning_interrupted(tuning_from_json(stopped)));
}

TEST(TuningReport, RefusesADamagedOne) {
  const auto refused = [](const char* key, const json& value) {
    json report = kReport;
    report[key] = value;
    EXPECT_THROW(tuning_from_json(report), std::invalid_argument) << key << " " << value;
  };
  refused("options", "beta");
  refused("tried", "none");
  refused("tried", {{{"beta", 0.0}}});  // neither a score nor a failure
  refused("tried", {{{"beta", "0"}, {"valid_nll", 1}}});
  refused("best", {{"beta", 0.0}, {"failed", "no"}});
  refused("spread", "0");
  refused("untried", 0);
  EXPECT_THROW(tuning_from_json(nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
