#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <string>

#include "slimbayes/core/refused_memory.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/train/failure.h"
#include "tests/train/toy.h"

namespace slimbayes {
namespace {

constexpr const char* kFull = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 80 GiB.\nmore";

[[noreturn]] void throw_full() { throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, kFull); }

/// A toy whose step of this number, in this pass of it, finds no memory; -1: none does.
struct FullToy : Toy {
  int64_t full, pass;
  explicit FullToy(int64_t step, int64_t pass = 1) : full(step), pass(pass) {}

  Summary fit(const CheckpointPolicy& policy) {
    TrainProblem p = problem();
    p.step = [this, own = p.step](const Batch& batch, const StepContext& at) {
      if (at.step == full && --pass == 0) throw_full();
      return own(batch, at);
    };
    return train(p, few_epochs(3), Stream(7), nullptr, policy);
  }
};

std::string message_of(FullToy& toy, const CheckpointPolicy& policy) {
  try {
    toy.fit(policy);
  } catch (const OutOfMemory& error) {
    return error.what();
  }
  return "no OutOfMemory";
}

TEST(FullDevice, SavesACheckpointAndSaysHowToGoOn) {
  Toy whole;
  whole.fit(few_epochs(3));
  for (const int64_t step : {0, 5, 11}) {
    FullToy cut(step), rest(-1);
    const auto path = scratch("full.ckpt");
    const std::string message = message_of(cut, {path, false, "f", 1e6});
    for (const char* const part : {"room for a batch of 1", " rows in the memory of the device cpu; received",
                                   "'CUDA out of memory. Tried to allocate 2.00 GiB'", "`.batch=6`"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("goes on from step " + std::to_string(step)), std::string::npos) << message;
    rest.fit({path, true, "f", 1e6});
    EXPECT_EQ(rest.seen.size(), 12u - static_cast<size_t>(step));
    EXPECT_TRUE(at::equal(rest.value, whole.value));
  }
}

TEST(FullDevice, TakesBackTheMoveUphillOfASharpnessAwareStep) {
  Toy whole;
  whole.sharpness = 0.1;
  whole.fit(few_epochs(3));
  FullToy cut(5, 2), rest(-1);
  cut.sharpness = rest.sharpness = 0.1;
  const auto path = scratch("full_uphill.ckpt");
  const std::string message = message_of(cut, {path, false, "f", 1e6});
  EXPECT_NE(message.find("goes on from step 5"), std::string::npos) << message;
  rest.fit({path, true, "f", 1e6});
  EXPECT_EQ(rest.seen.size(), 2 * 7U);  // two passes a step
  EXPECT_TRUE(at::equal(rest.value, whole.value));
}

TEST(FullDevice, SavesAStepThatReadsItsRowsItself) {
  Toy toy;
  TrainProblem p = toy.problem();
  p.source = {};
  p.plan = [](const Stream&) { return EpochBatches({at::empty({0}, at::kLong)}); };
  p.step = [own = p.step, all = Batch{{toy.x, at::arange(50)}, toy.y}](const Batch&, const StepContext& at) {
    if (at.step == 2) throw_full();
    return own(all, at);
  };
  TrainingOptions options = few_epochs(3);
  options.batch = 50;
  std::string message;
  try {
    train(p, options, Stream(7), nullptr, {scratch("full_rows.ckpt"), false, "f", 1e6});
  } catch (const OutOfMemory& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("room for a pass over rows"), std::string::npos) << message;
  EXPECT_NE(message.find("goes on from step 2"), std::string::npos) << message;
}

TEST(FullDevice, WithoutAFileNothingGoesOn) {
  FullToy toy(5);
  const std::string message = message_of(toy, {});
  EXPECT_EQ(message.find(".resume"), std::string::npos) << message;
  EXPECT_NE(message.find("`.device=cpu`"), std::string::npos) << message;
}

TEST(FullDevice, IsAFailureOfOneFit) {
  try {
    throw_full();
  } catch (const c10::Error& error) {
    EXPECT_TRUE(refused_memory(error));
    EXPECT_EQ(failure_of(std::current_exception()), "out of memory");
  }
  EXPECT_EQ(failure_of(std::make_exception_ptr(OutOfMemory("too full"))), "too full");
}

}  // namespace
}  // namespace slimbayes
