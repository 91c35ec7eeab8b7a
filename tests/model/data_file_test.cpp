#include "slimbayes/model/data_file.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(DataFile, ImagesAreNotReadFromStandardInput) {
  FitOptions fit;
  fit.format = "idx";
  EXPECT_THROW(read_training("-", fit, DataSource::files(), nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
