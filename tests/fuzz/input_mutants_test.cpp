// Mutants of models of windows, images and texts, and of checkpoints of their fits: some hundreds, as of
// tables in tests/fit/mutants_test.cpp; `make fuzz` tries thousands under the sanitisers.
#include <gtest/gtest.h>

#include "tests/fuzz/checkpoint_trial.h"
#include "tests/fuzz/input_mutator.h"
#include "tests/fuzz/model_trial.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/trial.h"

namespace slimbayes {
namespace {

TEST(InputMutants, ModelsAnswerOrAreRefused) {
  std::mt19937_64 random(20260104);
  int answered = 0;
  for (const trial::Subject& subject : trial::input_subjects()) {
    const Examples examples = trial::examples_for(subject.fit);
    const TensorFile good = fit_model(examples, subject.fit).to_file();
    ASSERT_TRUE(trial::try_model(to_bytes(good), examples)) << subject.name;
    // try_model() takes a refused question for a good end; of the good file none is.
    const Model model = Model::from_file(good, "good");
    ASSERT_NO_THROW(trial::check_answers(model, examples)) << subject.name;
    ASSERT_NO_THROW(model.evaluate(examples, 0.5)) << subject.name;
    for (int i = 0; i < 40; ++i) {
      SCOPED_TRACE(::testing::Message() << subject.name << " " << i);
      ASSERT_NO_THROW(answered += trial::try_model(trial::mutant_of_input(good, random), examples));
    }
  }
  EXPECT_GT(answered, 20);  // or nothing was reached
}

// A size that stands in the encoder and in the network loads where it is changed in both: else no mutant of a
// size would reach the model.
TEST(InputMutants, OtherSizesReachTheModel) {
  std::mt19937_64 random(20260105);
  for (const trial::Subject& subject : trial::input_subjects()) {
    const TensorFile good = fit_model(trial::examples_for(subject.fit), subject.fit).to_file();
    if (!good.metadata.contains("network") || subject.fit.format == "idx") continue;  // a head of fixed size
    int loaded = 0;
    for (int i = 0; i < 40; ++i) {
      TensorFile file = good;
      trial::mutate_size(file, random);
      loaded += trial::answers([&] { Model::from_file(file, "resized"); });
    }
    EXPECT_GT(loaded, 3) << subject.name;
  }
}

TEST(InputMutants, CheckpointsGoOnOrAreRefused) {
  std::mt19937_64 random(20260106);
  int answered = 0;
  for (const trial::StoppedFit& stopped : trial::stopped_input_fits()) {
    for (int i = 0; i < 15; ++i) {
      SCOPED_TRACE(::testing::Message() << stopped.name << " " << i);
      ASSERT_NO_THROW(answered += trial::try_checkpoint(stopped, random));
    }
  }
  EXPECT_GT(answered, 3);
}

}  // namespace
}  // namespace slimbayes
