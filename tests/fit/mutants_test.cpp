// Tries a few hundred mutants of each kind. `make fuzz` tries thousands under the sanitisers.
#include <gtest/gtest.h>

#include "tests/fuzz/checkpoint_trial.h"
#include "tests/fuzz/model_trial.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/trial.h"

namespace slimbayes {
namespace {

TEST(Mutants, ModelsOfEveryMethodAnswerOrAreRefused) {
  std::mt19937_64 random(20260102);
  int answered = 0;
  for (const trial::Subject& subject : trial::subjects()) {
    const Table table = trial::table_for(subject.fit);
    const TensorFile good = fit_model(table, subject.fit).to_file();
    ASSERT_TRUE(trial::try_model(to_bytes(good), table)) << subject.name;
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(::testing::Message() << subject.name << " " << i);
      ASSERT_NO_THROW(answered += trial::try_model(trial::mutant_of(good, random), table));
    }
  }
  EXPECT_GT(answered, 20);  // otherwise the mutants tested nothing
}

TEST(Mutants, CheckpointsGoOnOrAreRefused) {
  std::mt19937_64 random(20260103);
  int answered = 0;
  for (const trial::StoppedFit& stopped : trial::stopped_fits()) {
    for (int i = 0; i < 20; ++i) {
      SCOPED_TRACE(::testing::Message() << stopped.name << " " << i);
      ASSERT_NO_THROW(answered += trial::try_checkpoint(stopped, random));
    }
  }
  EXPECT_GT(answered, 5);
}

// The record of a series of jobs says whether one is finished. Anything else must be refused.
TEST(Mutants, ARecordHoldsWhatItSays) {
  int tried = 0;
  for (const trial::StoppedFit& stopped : trial::stopped_fits()) {
    for (const auto& [changed, file] : stopped.files) {
      if (!file.metadata.contains("results")) continue;
      for (const char* results : {"-1", "2.5", "many", "9000000000000000000", "2"}) {
        SCOPED_TRACE(::testing::Message() << stopped.name << " " << changed << " " << results);
        const trial::Folder folder;
        for (const auto& [name, good] : stopped.files) trial::write(folder / name, to_bytes(good));
        TensorFile bad = file;
        bad.metadata["results"] = results;
        write_tensor_file(folder / changed, bad);
        const std::string text = trial::message_of([&] {
          fit_model(trial::table_for(stopped.fit), stopped.fit, nullptr, nullptr,
                    trial::checkpoint_in(folder, true));
        });
        EXPECT_EQ(text.find("the checkpoint '" + (folder / changed).string()), 0u) << text;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 20);
}

}  // namespace
}  // namespace slimbayes
