#include "slimbayes/train/job_files.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/jobs.h"
#include "tests/train/squares.h"

namespace slimbayes {
namespace {

TEST_F(JobsTest, BeginsWithAnEmptyRecordAndWithoutOldParts) {
  for (const char* name : {"m.ckpt.0", "m.ckpt.0.1", "m.ckpt.old", "m.ckptx.1", "n.ckpt.1"}) touch(name);
  Squares squares;
  Jobs<int> jobs(plan(false), squares.work());
  jobs.begin();
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.old", "m.ckptx.1", "n.ckpt.1"}));
}

TEST_F(JobsTest, AResumedSeriesTakesFinishedJobsFromTheirFiles) {
  Squares squares;
  {
    Jobs<int> jobs(plan(false), squares.work());
    jobs.begin();
    for (const char* name : {"m.ckpt.2", "m.ckpt.2.4", "m.ckpt.1"}) touch(name);
    EXPECT_EQ(jobs.take(2).value(), 4);
  }
  EXPECT_EQ(files(), (Names{"m.ckpt", "m.ckpt.1", "m.ckpt.2"}));  // that of job 1 is its checkpoint
  fs::remove(folder_ / "m.ckpt.1");
  for (int workers : {1, 3}) {
    Jobs<int> jobs(plan(true, workers), squares.work());
    jobs.begin();
    EXPECT_TRUE(jobs.has(2));
    EXPECT_FALSE(jobs.has(9));
    jobs.ahead(2, 5);
    EXPECT_EQ(jobs.take(2).value(), 4);
    EXPECT_EQ(jobs.take(3).value(), 9);
  }
  EXPECT_EQ(squares.runs[2], 1);
  EXPECT_EQ(squares.runs[3], 1);
}

TEST_F(JobsTest, ARecordOfAnotherFitIsRefused) {
  Squares squares;
  {
    Jobs<int> jobs(plan(false), squares.work());
    jobs.begin();
    jobs.take(0);
  }
  JobPlan other = plan(true);
  other.checkpoint.fingerprint = "abd";
  EXPECT_THROW(Jobs<int>(other, squares.work()).begin(), std::invalid_argument);
  other = plan(true);
  other.kind = "other";
  EXPECT_THROW(Jobs<int>(other, squares.work()).begin(), std::invalid_argument);
  EXPECT_TRUE(is_record(policy(true), "toy"));
  EXPECT_FALSE(is_record(policy(true), "other"));
  EXPECT_FALSE(is_record(policy(false), "toy"));
}

// Options that act after the training may change while no job is finished.
TEST_F(JobsTest, WithoutAResultOnlyTheTrainingMustBeTheSame) {
  Squares squares;
  JobPlan first = plan(false);
  first.checkpoint.training = "training";
  Jobs<int>(first, squares.work()).begin();
  JobPlan second = plan(true);
  second.checkpoint = {folder_ / "m.ckpt", true, "other answers", 2, "training"};
  {
    Jobs<int> jobs(second, squares.work());
    EXPECT_NO_THROW(jobs.begin());
    jobs.take(1);
  }
  first.checkpoint.resume = true;
  EXPECT_THROW(Jobs<int>(first, squares.work()).begin(), std::invalid_argument);
}

// The result of another fit at the place of a job's file is refused, not overwritten.
TEST_F(JobsTest, AForeignResultIsRefused) {
  Squares squares;
  {
    Jobs<int> jobs(plan(false), squares.work());
    jobs.begin();
    jobs.take(2);
  }
  fs::rename(folder_ / "m.ckpt.2", folder_ / "m.ckpt.3");
  for (int workers : {1, 2}) {
    Jobs<int> jobs(plan(true, workers), squares.work());
    jobs.begin();
    jobs.ahead(3, 5);
    EXPECT_THROW(jobs.take(3).value(), DataError);
  }
  EXPECT_FALSE(squares.runs.contains(3));
}

// Who deletes the record alone loses nothing: each result names its fit.
TEST_F(JobsTest, ResultsCountWithoutTheirRecord) {
  Squares squares;
  {
    Jobs<int> jobs(plan(false), squares.work());
    jobs.begin();
    jobs.take(2);
  }
  fs::remove(folder_ / "m.ckpt");
  Jobs<int> jobs(plan(true), squares.work());
  jobs.begin();
  EXPECT_EQ(jobs.take(2).value(), 4);
  EXPECT_EQ(squares.runs[2], 1);
}

// The rest of a large file is read when the result is taken.
TEST_F(JobsTest, WhetherAJobIsFinishedStandsInTheHeader) {
  Squares squares;
  {
    Jobs<int> jobs(plan(false), squares.work());
    jobs.begin();
    jobs.take(2);
  }
  TensorFile file = read_tensor_file(folder_ / "m.ckpt.2");
  file.tensors["large"] = {StoredType::u8, {1000}, std::vector<std::byte>(1000)};
  write_tensor_file(folder_ / "m.ckpt.2", file);
  fs::resize_file(folder_ / "m.ckpt.2", fs::file_size(folder_ / "m.ckpt.2") - 900);
  Jobs<int> jobs(plan(true), squares.work());
  jobs.begin();
  EXPECT_TRUE(jobs.has(2));
  EXPECT_THROW(jobs.take(2), DataError);
  fs::resize_file(folder_ / "m.ckpt.2", 40);  // within the header
  EXPECT_THROW(jobs.has(2), DataError);
}

TEST_F(JobsTest, PartsHavePathsAndFingerprintsOfTheirOwn) {
  Squares squares;
  const Jobs<int> jobs(plan(true), squares.work());
  EXPECT_EQ(jobs.part(3).path, folder_ / "m.ckpt.3");
  EXPECT_TRUE(jobs.part(3).resume);
  EXPECT_NE(jobs.part(3).fingerprint, jobs.part(4).fingerprint);
  EXPECT_NE(jobs.part(3).fingerprint, "abc");
}

TEST_F(JobsTest, WithoutAPathNothingIsWritten) {
  Squares squares;
  for (int workers : {1, 2}) {
    Jobs<int> jobs({.kind = "toy", .workers = workers}, squares.work());
    jobs.begin();
    jobs.ahead(0, 3);
    EXPECT_EQ(jobs.take(2).value(), 4);
    EXPECT_TRUE(jobs.part(1).path.empty());
  }
  EXPECT_TRUE(files().empty());
}

// The result of job 0 replaces its checkpoint, which lies where the record will be.
TEST_F(JobsTest, ASeriesBeginsAfterAFirstFit) {
  touch("m.ckpt");
  touch("m.ckpt.5");
  Squares squares;
  {
    Jobs<int> jobs(plan(true), squares.work());
    jobs.begin_after(0);
    EXPECT_EQ(files(), (Names{"m.ckpt"}));
    EXPECT_TRUE(is_record(policy(true), "toy"));
    jobs.take(1);
  }
  Jobs<int> jobs(plan(true), squares.work());
  jobs.begin();
  EXPECT_EQ(jobs.take(0).value(), 0);
  EXPECT_EQ(jobs.take(1).value(), 1);
  EXPECT_EQ(squares.runs, (std::map<size_t, int>{{1, 1}}));
}

// A kill between the record and the removal of the earlier series' parts.
TEST_F(JobsTest, PartsOfTheSeriesBeforeAreNotTaken) {
  Squares squares;
  {
    JobPlan before = plan(false);
    before.kind = "before";
    Jobs<int> jobs(before, squares.work());
    jobs.begin();
    jobs.take(1);
  }
  fs::copy(folder_ / "m.ckpt.1", folder_ / "kept");
  Jobs<int>(plan(true), squares.work()).begin_after(0);
  fs::copy(folder_ / "kept", folder_ / "m.ckpt.1");
  Jobs<int> jobs(plan(true), squares.work());
  jobs.begin();
  EXPECT_FALSE(jobs.has(1));
  EXPECT_EQ(jobs.take(1).value(), 1);
  EXPECT_EQ(squares.runs[1], 2);
}

TEST_F(JobsTest, RemovingACheckpointTakesItsParts) {
  for (const char* name : {"m.ckpt", "m.ckpt.0", "m.ckpt.0.1", "m.ckpt.old", "m.ckptx.1"}) touch(name);
  remove_checkpoint(folder_ / "m.ckpt");
  EXPECT_EQ(files(), (Names{"m.ckpt.old", "m.ckptx.1"}));
  remove_checkpoint(folder_ / "absent.ckpt");
}

TEST_F(JobsTest, AForeignFingerprintIsNamedByWhatDiffers) {
  const auto message = [](const std::string& found) {
    try {
      check_fingerprint(found, R"({"seed":1,"threads":2,"options":{"a":1}}, ensemble 3)", "the checkpoint",
                        "remove it");
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(R"({"seed":1,"threads":2,"options":{"a":1}}, ensemble 3)"), "");
  EXPECT_NE(message(R"({"seed":2,"threads":2,"options":{"a":2}})").find("one of another: options, seed;"),
            std::string::npos);
  // Of data it says what is known of the difference.
  const auto of_data = [](const std::string& found) {
    try {
      check_fingerprint(found, R"({"columns":["x","y"],"data":"1","number of rows":600})", "the checkpoint",
                        "h");
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(of_data(R"({"columns":["x","y"],"data":"2","number of rows":700})")
                .find("another: number of rows (700, not 600);"),
            std::string::npos);
  EXPECT_NE(of_data(R"({"columns":["x","z"],"data":"2","number of rows":600})")
                .find("another: columns ('z', not 'y');"),
            std::string::npos);
  EXPECT_NE(
      of_data(R"({"columns":["x"],"data":"2","number of rows":600})").find("another: columns (1, not 2);"),
      std::string::npos);
  EXPECT_NE(of_data(R"({"columns":["x","y"],"data":"2","number of rows":600})")
                .find("another: data (the cells, or the order of the rows);"),
            std::string::npos);
  EXPECT_NE(message(R"({"seed":1,"threads":2,"options":{"a":1}})").find("one of another: kind;"),
            std::string::npos);
  EXPECT_NE(message("old").find("data, options, seed or threads"), std::string::npos);
}

TEST(JobFiles, ARefusalOfOtherTargetsNamesBoth) {
  const auto message = [](const std::string& found, const std::string& own) {
    try {
      check_fingerprint(found, own, "'m' of this fit", "remove it");
    } catch (const std::invalid_argument& error) {
      return without_functions(error.what());
    }
    return std::string("no error");
  };
  const std::string pair = R"({"ignore":["b"],"seed":1,"target":"a","targets":["a","b"]})";
  EXPECT_EQ(
      message(R"({"ignore":["c"],"seed":1,"target":"a","targets":["a","c"]})", pair),
      "expected 'm' of this fit; received one of the targets 'a', 'c', where this fit is of the targets "
      "'a', 'b'; name the same in `.target`, in that order, or remove it");
  EXPECT_EQ(message(R"({"ignore":[],"seed":1,"target":"c"}, member 2)", pair),
            "expected 'm' of this fit; received one of the target 'c', where this fit is of the targets "
            "'a', 'b'; name the same in `.target`, or remove it");
  // One kept before the target was recorded, and one whose targets agree, tell their keys.
  EXPECT_NE(message(R"({"ignore":[],"seed":1})", pair).find("one of another: ignore, target, targets;"),
            std::string::npos);
  EXPECT_NE(message(R"({"ignore":["b"],"seed":2,"target":"a","targets":["a","b"]})", pair)
                .find("one of another: seed;"),
            std::string::npos);
}

}  // namespace
}  // namespace slimbayes
