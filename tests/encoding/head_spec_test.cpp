#include "slimbayes/encoding/head_spec.h"

#include <gtest/gtest.h>

namespace slimbayes {
namespace {

TEST(HeadSpec, SurvivesItsJsonAndRefusesAnotherTask) {
  const HeadSpec head{LikelihoodKind::softmax, 3};
  EXPECT_EQ(to_json(head_spec_from_json(to_json(head))), to_json(head));
  EXPECT_THROW(head_spec_from_json({{"likelihood", "softmax"}, {"outputs", 0}, {"noise_var", 0.0}}),
               std::invalid_argument);
  EXPECT_THROW(head_spec_from_json({{"likelihood", "gaussian"}, {"outputs", 2}, {"noise_var", 0.0}}),
               std::invalid_argument);
  EXPECT_THROW(head_spec_from_json({{"likelihood", "gaussian"}, {"outputs", 1}, {"noise_var", -1.0}}),
               std::invalid_argument);
  Task task;
  EXPECT_EQ(to_json(head_spec_of(task)), to_json(HeadSpec{}));
  try {
    check_head(head, task, "load", "the model file is damaged");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "[load] expected a network for regression (gaussian) with 1 output; received one for "
                 "classification (softmax) with 3 outputs; the model file is damaged");
  }
}

}  // namespace
}  // namespace slimbayes
