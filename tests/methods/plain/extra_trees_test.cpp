// extra-trees on rows whose distribution is known.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/until_deadline.h"

namespace slimbayes {
namespace {

std::unique_ptr<Fitted> forest_of(const Dataset& rows,
                                  const nlohmann::json& options = nlohmann::json::object(), uint64_t seed = 1,
                                  Callback* callback = nullptr) {
  return registry_row("extra-trees").make(options)->fit({rows, {}}, {Stream(seed), callback});
}

Classes classes_at(const Fitted& fitted, const at::Tensor& x) {
  return std::get<Classes>(fitted.predict(dataset_of({}, {{x}})));
}

double forest_nll(const Fitted& fitted, const Dataset& rows) {
  const Predictive p = fitted.predict(rows);
  return row_nll(p, rows.all().target).mean().item<double>();
}

/// Four fields of a board in turn; a share of the classes is wrong.
Dataset board(int64_t n, double wrong, uint64_t seed) {
  const Stream stream(seed);
  const at::Tensor x = stream.split("x").uniform({n, 2}) * 2 - 1;
  const at::Tensor flip = stream.split("flip").uniform({n}) < wrong;
  const at::Tensor y = (x.select(1, 0).gt(0) ^ x.select(1, 1).gt(0)) ^ flip;
  return class_data(x, y.to(at::kLong), 2);
}

TEST(ExtraTrees, FindsBordersThatNoLineShows) {
  const auto fitted = forest_of(board(1000, 0, 1));
  EXPECT_LT(forest_nll(*fitted, board(2000, 0, 2)), 0.12);
}

TEST(ExtraTrees, KnowsTheShareOfWrongClasses) {
  const Dataset fresh = board(4000, 0.2, 2);
  const auto fitted = forest_of(board(2000, 0.2, 1));
  const double least = -0.8 * std::log(0.8) - 0.2 * std::log(0.2);
  EXPECT_LT(forest_nll(*fitted, fresh), least + 0.06);  // with trees of one row a leaf it is .2 above
  EXPECT_GE(stored_tensor(fitted->save(), "parent_rows").item<double>(), 3);
}

TEST(ExtraTrees, ChoosesBySomeRowsOfALargeTable) {
  const auto fitted = forest_of(board(8200, 0.2, 1), {{"trees", 10}});
  EXPECT_GE(stored_tensor(fitted->save(), "parent_rows").item<double>(), 3);
  const Stream stream(4);
  const at::Tensor x = stream.normal({600, 420}), y = x.select(1, 5).gt(0).to(at::kLong);
  EXPECT_LT(forest_nll(*forest_of(class_data(x, y, 2), {{"trees", 10}}), class_data(x, y, 2)), 0.3);
}

TEST(ExtraTrees, OptionsDecideWhatLeftOutRowsWould) {
  const Dataset rows = board(300, 0.2, 1);
  const TensorFile file =
      forest_of(rows, {{"parent_rows", 0.7}, {"split_columns", "root"}, {"trees", 7}})->save();
  EXPECT_EQ(stored_tensor(file, "parent_rows").item<double>(), 0.7);
  EXPECT_EQ(stored_tensor(file, "sizes").size(0), 7);
  const TensorFile few = forest_of(rows, {{"tree_rows", 40}, {"trees", 3}})->save();
  EXPECT_EQ(stored_tensor(few, "counts").sum().item<int64_t>(), 3 * 40);
}

TEST(ExtraTrees, HasTheSameBitsForASeedAndAnyThreads) {
  const Dataset rows = board(200, 0.1, 1);
  const at::Tensor x = Stream(9).uniform({50, 2});
  const int threads = at::get_num_threads();
  const at::Tensor first = classes_at(*forest_of(rows), x).probabilities;
  at::set_num_threads(threads + 2);
  EXPECT_TRUE(at::equal(classes_at(*forest_of(rows), x).probabilities, first));
  at::set_num_threads(threads);
  EXPECT_FALSE(at::equal(classes_at(*forest_of(rows, nlohmann::json::object(), 2), x).probabilities, first));
}

TEST(ExtraTrees, IgnoranceFallsWithTheRows) {
  const at::Tensor x = Stream(9).uniform({200, 2}) * 2 - 1;
  const double few = mutual_information(classes_at(*forest_of(board(60, 0.2, 1)), x)).mean().item<double>();
  const double many =
      mutual_information(classes_at(*forest_of(board(3000, 0.2, 1)), x)).mean().item<double>();
  EXPECT_GT(few, 1.5 * many);
  EXPECT_GT(many, 0);
}

TEST(ExtraTrees, AnswersFromAHandfulOfRows) {
  const auto one = forest_of(class_data(at::ones({1, 2}), at::tensor({1}), 3));
  const Classes p = classes_at(*one, at::zeros({1, 2}));
  EXPECT_NEAR(p.probabilities[0][1].item<double>(), (1 + 1.0 / 3) / 2, 1e-7);
  const auto constant =
      forest_of(class_data(at::ones({40, 2}), at::arange(40).remainder(4).div(3, "floor"), 2));
  EXPECT_NEAR(classes_at(*constant, at::zeros({1, 2})).probabilities[0][1].item<double>(), 10.5 / 41, 1e-7);
}

/// EndsForest a fit after so many questions.
class EndsForest : public Callback {
 public:
  EndsForest(bool by_caller, int asked) : by_caller_(by_caller), left_(asked) {}
  bool stop() override { return by_caller_ && --left_ < 0; }
  bool late() override { return !by_caller_ && --left_ < 0; }

 private:
  bool by_caller_;
  int left_;
};

TEST(ExtraTrees, EndsWithTheTreesThatHaveGrown) {
  for (const bool by_caller : {true, false})
    for (const int asked : {0, 40}) {
      EndsForest callback(by_caller, asked);
      const nlohmann::json options = {{"parent_rows", 1}, {"split_columns", "all"}, {"trees", 4000}};
      const auto fitted = forest_of(board(100, 0.1, 1), options, 1, &callback);
      const Summary& summary = fitted->summary();
      EXPECT_EQ(summary.stopped, by_caller ? Stopped::interrupted : Stopped::time);
      EXPECT_TRUE(is_usable(summary));
      EXPECT_LT(summary.steps, 4000);
      EXPECT_TRUE(classes_at(*fitted, at::zeros({1, 2})).probabilities.isfinite().all().item<bool>());
    }
}

// Also while the numbers are chosen.
TEST(ExtraTrees, SaysThatItWasStoppedDuringTheChoice) {
  for (const bool by_caller : {true, false}) {
    EndsForest callback(by_caller, 3);
    const auto fitted = forest_of(board(300, 0.1, 1), {{"trees", 1}}, 1, &callback);
    EXPECT_EQ(fitted->summary().stopped, by_caller ? Stopped::interrupted : Stopped::time);
    EXPECT_TRUE(is_usable(fitted->summary()));
  }
}

TEST(ExtraTrees, LeavesTimeForTheForestAfterTheChoice) {
  UntilDeadline callback(nullptr, 0.2);
  const auto fitted = forest_of(board(8000, 0.2, 1), {{"trees", 100000}}, 1, &callback);
  EXPECT_EQ(fitted->summary().stopped, Stopped::time);
  EXPECT_GE(fitted->summary().steps, 8);
}

TEST(ExtraTrees, GrowsSmallTreesOfManyClasses) {
  const Stream stream(5);
  const at::Tensor x = stream.split("x").normal({3000, 3}), y = at::arange(3000).remainder(500);
  const TensorFile file = forest_of(class_data(x, y, 500), {{"trees", 5}, {"parent_rows", 1}})->save();
  EXPECT_EQ(stored_tensor(file, "counts").sum().item<int64_t>(), 5 * 200);
}

TEST(ExtraTrees, RefusesADamagedFile) {
  const TensorFile good = forest_of(board(50, 0.1, 1), {{"trees", 3}})->save();
  const auto load = [](const TensorFile& file) { return registry_row("extra-trees").load(file); };
  EXPECT_NO_THROW(load(good));
  for (const char* name : {"columns", "thresholds", "rights", "counts", "sizes", "parent_rows"}) {
    TensorFile bad = good;
    const at::Tensor value = stored_tensor(good, name);
    bad.tensors[name] = to_stored(value.dim() == 0 ? -value : value.narrow(0, 1, value.size(0) - 1));
    EXPECT_THROW(load(bad), std::invalid_argument) << name;
    bad.tensors[name] = to_stored(value.to(at::kByte));
    EXPECT_THROW(load(bad), std::invalid_argument) << name;
    bad.tensors.erase(name);
    EXPECT_THROW(load(bad), DataError) << name;
  }
}

}  // namespace
}  // namespace slimbayes
