#include "slimbayes/storage/model_kind.h"

#include <gtest/gtest.h>

#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

TEST(ModelKind, APosteriorWithoutColumnsIsToldFromOtherFiles) {
  const auto refused = [](const std::map<std::string, std::string>& metadata) {
    return trial::message_of([&] { check_model_kind({{metadata.begin(), metadata.end()}, {}}, "m"); });
  };
  const std::string expected = "m: expected a model of slimbayes fit, which knows the columns of its data; ";
  EXPECT_NO_THROW(check_model_kind({{{"kind", "model"}}, {}}, "m"));
  EXPECT_NO_THROW(check_model_kind({{{"kind", "checkpoint"}}, {}}, "m"));
  EXPECT_EQ(refused({}), expected + "received another tensor file; check the path");
  const std::string reader = "registry_row(METHOD).load reads it in C++ (examples/own_network.cpp)";
  EXPECT_EQ(refused({{"summary", "{}"}}), expected + "received a posterior, without columns; " + reader);
  EXPECT_EQ(refused({{"summary", "{}"}, {"module_layer", "head"}}),
            expected +
                "received a posterior around a module of somebody's own, "
                "without columns; " +
                reader);
}

}  // namespace
}  // namespace slimbayes
