#include <gtest/gtest.h>

#include "tests/fuzz/joint_trial.h"
#include "tests/fuzz/mutator.h"

namespace slimbayes {
namespace {

TEST(Mutants, ModelsOfSeveralTargetsAnswerOrAreRefused) {
  std::mt19937_64 random(20260104);
  const Table table = trial::small_table();
  const TensorFile good = trial::joint_file(table);
  ASSERT_TRUE(trial::try_joint(to_bytes(good), table));
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_THROW(answered += trial::try_joint(trial::mutant_of(good, random), table));
  }
  EXPECT_GT(answered, 5);  // otherwise the mutants tested nothing
}

}  // namespace
}  // namespace slimbayes
