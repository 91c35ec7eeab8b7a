// A few hundred mutants of every kind; `make fuzz` tries thousands under the sanitisers.
#include <gtest/gtest.h>

#include "tests/fuzz/subjects.h"

namespace slimbayes {
namespace {

TEST(Mutants, ModelsOfEveryMethodAnswerOrAreRefused) {
  std::mt19937_64 random(20260102);
  int answered = 0;
  for (const testing::Subject& subject : testing::subjects()) {
    const Table table = testing::table_for(subject.fit);
    const TensorFile good = fit_table(table, subject.fit).to_file();
    ASSERT_TRUE(testing::try_model(to_bytes(good), table)) << subject.name;
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(::testing::Message() << subject.name << " " << i);
      ASSERT_NO_THROW(answered += testing::try_model(testing::mutant_of(good, random), table));
    }
  }
  EXPECT_GT(answered, 20);  // or nothing was reached
}

TEST(Mutants, CheckpointsGoOnOrAreRefused) {
  std::mt19937_64 random(20260103);
  int answered = 0;
  for (const testing::Stopped& stopped : testing::stopped_fits()) {
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(::testing::Message() << stopped.name << " " << i);
      ASSERT_NO_THROW(answered += testing::try_checkpoint(stopped, random));
    }
  }
  EXPECT_GT(answered, 5);
}

}  // namespace
}  // namespace slimbayes
