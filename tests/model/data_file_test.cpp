#include "slimbayes/model/data_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

TEST(DataFile, ImagesAreNotReadFromStandardInput) {
  FitOptions fit;
  fit.format = "idx";
  EXPECT_THROW(read_training("-", fit, DataSource::files(), nullptr), std::invalid_argument);
}

TEST(DataFile, OfSeveralTargetsRowsWithoutAnyAreLeftOut) {
  const Table table =
      table_of({numbers("x", {1, 2, 3}), numbers("a", {kNone, kNone, 7}), numbers("b", {kNone, 5, 6})});
  const DataSource source{[&](const std::string&, const Reading&) { return table; }};
  FitOptions fit;
  fit.target = "a,b";
  std::vector<std::string> notes;
  const auto rows = std::get<Table>(read_training("t.csv", fit, source, &notes));
  EXPECT_EQ(rows.find("x")->values, (std::vector<double>{2, 3}));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "1 of 3 rows without any of the targets: left out");
  fit.likelihood = LikelihoodKind::poisson;
  const std::vector<std::string> read = training_reading(fit).numbers;
  EXPECT_NE(std::ranges::find(read, "b"), read.end());
}

}  // namespace
}  // namespace slimbayes
