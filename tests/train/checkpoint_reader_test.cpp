// Tests checkpoints with a correct checksum and the fit's own fingerprint, but with contents that no fit
// writes.
#include "slimbayes/train/checkpoint_reader.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "slimbayes/core/stored.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

using nlohmann::json;

constexpr int64_t kSteps = 12, kStepsPerEpoch = 2;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    problem_.rows = 8;
    problem_.groups = {{"a", at::ones({3}), at::zeros({3})}, {"b", at::ones({2}), at::zeros({2})}};
    TrainState state;
    state.step = 9;  // in the fifth epoch
    state.since_best = {0.5, std::nan(""), std::numeric_limits<double>::infinity()};
    state.seconds = 1.5;
    state.summary.rows = 8;
    state.summary.epochs = 4;
    state.summary.best_epoch = 1;
    state.summary.best_score = 0.25;
    state.best = {at::zeros({3}), at::zeros({2})};
    save_checkpoint(policy_, problem_, AdamW(problem_.groups), state);
    file_ = read_tensor_file(policy_.path);
  }

  /// Returns the error of load_checkpoint for the present file, or "" if it is accepted. Also checks that a
  /// refused checkpoint changes no parameter.
  std::string said() {
    write_tensor_file(policy_.path, file_);
    problem_.groups[0].value.fill_(7);
    AdamW optimiser(problem_.groups);
    try {
      load_checkpoint(policy_, problem_, optimiser, kSteps, kStepsPerEpoch);
    } catch (const DataError& error) {
      EXPECT_TRUE((problem_.groups[0].value == 7).all().item<bool>());
      EXPECT_EQ(std::string(error.what()).find(checkpoint_name(policy_.path)), 0u) << error.what();
      return error.what();
    }
    return "";
  }

  std::string said_with(const std::string& key, const std::string& text) {
    const TensorFile good = file_;
    file_.metadata[key] = text;
    const std::string message = said();
    file_ = good;
    return message;
  }

  std::string said_with(const std::string& name, const at::Tensor& tensor) {
    const TensorFile good = file_;
    file_.tensors[name] = to_stored(tensor);
    const std::string message = said();
    file_ = good;
    return message;
  }

  std::string said_with_summary(const std::string& key, const json& value) {
    json summary = json::parse(file_.metadata.at("summary"));
    summary[key] = value;
    return said_with("summary", summary.dump());
  }

  trial::Folder folder_;
  TrainProblem problem_;
  CheckpointPolicy policy_{folder_ / "m.ckpt", true, "f", 0};
  TensorFile file_;
};

TEST_F(CheckpointTest, AGoodOneIsTaken) {
  EXPECT_EQ(said(), "");
  EXPECT_TRUE((problem_.groups[0].value == 1).all().item<bool>());
}

TEST_F(CheckpointTest, CountsAreWholeAndWithinTheBudget) {
  for (const char* step :
       {"9000000000000000000", "-1", "13", "", "four", "4.5", "4 ", "99999999999999999999"})
    EXPECT_NE(said_with("step", step).find("a whole number from 0 to 12 for 'step'"), std::string::npos)
        << step;
  EXPECT_NE(said_with("step", "5"), "");  // more scores than finished epochs
  EXPECT_NE(said_with("loss", "x"), "");
  for (const char* seconds : {"-1", "nan", "inf", "x", ""})
    EXPECT_NE(said_with("seconds", seconds), "") << seconds;
}

TEST_F(CheckpointTest, TensorsAreThoseOfTheProblem) {
  for (const char* name : {"value.0", "best.0", "optimiser.0", "optimiser.1"}) {
    EXPECT_NE(said_with(name, at::ones({4})).find("of shape [3], as this fit has it"), std::string::npos)
        << name;
    EXPECT_NE(said_with(name, at::ones({3}, at::kDouble)), "") << name;
    EXPECT_NE(said_with(name, at::full({3}, std::nan(""))), "") << name;
    const TensorFile good = file_;
    file_.tensors.erase(name);
    EXPECT_NE(said(), "") << name;
    file_ = good;
  }
  EXPECT_EQ(said_with("optimiser.0", at::full({3}, -1.0F)), "");
  EXPECT_NE(said_with("optimiser.1", at::full({3}, -1.0F)), "");  // second moments are not negative
  EXPECT_NE(said_with("optimiser.4", at::full({}, -1.0F)), "");   // nor is the count of steps
  EXPECT_NE(said_with("since_best", at::ones({5}, at::kDouble)), "");
  EXPECT_NE(said_with("since_best", at::ones({1, 2}, at::kDouble)), "");
}

TEST_F(CheckpointTest, TheSummaryIsOfThisFit) {
  for (const json& value : {json(-1), json("many"), json(nullptr), json(1e300), json(9)}) {
    EXPECT_NE(said_with_summary("rows", value), "") << value;
    EXPECT_NE(said_with_summary("best_epoch", value), "") << value;
  }
  EXPECT_NE(said_with_summary("best_epoch", 0), "");
  EXPECT_NE(said_with_summary("epochs", 5), "");
  EXPECT_NE(said_with_summary("stopped", "patience"), "");
  EXPECT_NE(said_with_summary("notes", json::array({1})), "");
  EXPECT_NE(said_with("summary", "[]"), "");
  EXPECT_NE(said_with("summary", "{"), "");
  EXPECT_NE(said_with("best_score", "nan"), "");
  EXPECT_NE(said_with("kind", "ensemble"), "");
}

TEST_F(CheckpointTest, AFingerprintThatIsNestedDeepIsRefused) {
  file_.metadata["fingerprint"] = std::string(100000, '[') + "}";
  write_tensor_file(policy_.path, file_);
  AdamW optimiser(problem_.groups);
  EXPECT_THROW(load_checkpoint(policy_, problem_, optimiser, kSteps, kStepsPerEpoch), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
