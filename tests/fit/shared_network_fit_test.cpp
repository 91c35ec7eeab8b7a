#include "slimbayes/fit/joint/shared_network_fit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/method/trained_network.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

/// Returns a table with two inputs, the numbers a = x_1 + x_2 and b = 5 - 20 x_1 with small errors, of which
/// b is missing in every third row and a in one row of seven, the weights w of 0 to 2, and the class c.
Table shared_targets(int64_t rows, uint64_t seed = 1) {
  const Stream stream(seed);
  std::vector<double> x, z, a, b, w, c;
  for (int64_t i = 0; i < rows; ++i) {
    const Stream row = stream.split(static_cast<uint64_t>(i));
    x.push_back(row.normal(0));
    z.push_back(row.normal(1));
    a.push_back(i % 7 == 1 ? kNone : x.back() + z.back() + 0.1 * row.normal(2));
    b.push_back(i % 3 == 0 ? kNone : 5 - 20 * x.back() + row.normal(3));
    w.push_back(static_cast<double>(i % 4 % 3));
    c.push_back(x.back() > 0 ? 1 : 0);
  }
  return table_of({numbers("x", x), numbers("z", z), numbers("a", a), numbers("b", b), numbers("w", w),
                   categories("c", c, {"no", "yes"})});
}

JointRequest sharing(const std::string& method, const std::string& targets = "a,b") {
  JointRequest request;
  request.fit.target = targets;
  request.fit.method = method;
  request.fit.options = {{"steps", 200}, {"hidden", 12}, {"blocks", 1}};
  if (targets == "a,b") request.fit.ignore = {"c", "w"};
  request.fit.valid_fraction = 0.3;
  request.fit.share_network = true;
  return request;
}

JointOutcome shared_fit(const Table& table, const JointRequest& request, const Table* valid = nullptr) {
  Callback silent;
  return fit_joint(table, request, valid, {}, silent);
}

const TrainedNetwork& network_of(const JointModel& model, size_t target) {
  return *model.models()[target].fitted().network();
}

/// Expects the noise variance of a model to be the mean squared error of these rows, which have its target.
void expect_noise_of(const Model& model, const Table& rows, const at::Tensor& weight = {}) {
  const Regression p = model.predict(rows);
  const at::Tensor y = at::tensor(rows.find(model.target())->values, at::kDouble);
  const at::Tensor w = weight.defined() ? weight : at::ones_like(y);
  const double mse = ((y - p.mean).square() * w).sum().item<double>() / w.sum().item<double>();
  EXPECT_NEAR(p.aleatoric_var[0].item<double>(), mse, 1e-4 * mse) << model.target();
}

TEST(SharedNetworkFit, TheNetworksDifferInTheLastLayerAlone) {
  const Table table = shared_targets(300);
  for (const char* const method : {"dnn", "bll", "rich-bll"}) {
    const JointModel model = *shared_fit(table, sharing(method)).model;
    const TrainedNetwork &a = network_of(model, 0), &b = network_of(model, 1);
    const std::string last = fmt::format("network.{}.", a.spec.layers.size() - 1);
    EXPECT_EQ(to_json(a.spec), to_json(b.spec));
    EXPECT_GT(a.weights.size(), 2u);
    for (const auto& [name, weight] : a.weights) {
      EXPECT_EQ(at::equal(weight, b.weights.at(name)), !name.starts_with(last)) << method << " " << name;
    }
    const auto inputs = [&](size_t target) {
      return dataset_of(model.models()[target].encoder(), Examples(table), false).all().inputs[0];
    };
    EXPECT_TRUE(at::equal(inputs(0), inputs(1)));
    expect_has(model.models()[1].split().network_note, "shared by 2 targets");
  }
}

TEST(SharedNetworkFit, EachTargetHasTheNoiseOfItsOwnValidationRows) {
  const JointRequest request = sharing("dnn");
  const Table table = shared_targets(300), fresh = shared_targets(150, 2);
  const JointModel model = *shared_fit(table, request).model,
                   apart = *shared_fit(table, request, &fresh).model;
  for (size_t t = 0; t < 2; ++t) {
    const Model& own = model.models()[t];
    expect_noise_of(own, take_rows(known_rows(table, own.target()).table, own.split().valid));
    expect_noise_of(apart.models()[t], known_rows(fresh, own.target()).table);
    const double sd = own.schema().task.y_scale;  // the networks learn: most of the variance is gone
    EXPECT_LT(own.predict(table).aleatoric_var[0].item<double>(), 0.3 * sd * sd);
  }
  EXPECT_TRUE(apart.models()[0].split().valid.empty());
}

TEST(SharedNetworkFit, RowsCountByTheirWeights) {
  JointRequest request = sharing("dnn");
  request.fit.ignore = {"c"};
  request.fit.weights = "w";
  const Table table = shared_targets(300);
  std::vector<int64_t> positive;
  for (int64_t i = 0; i < table.rows; ++i)
    if (table.find("w")->values[static_cast<size_t>(i)] > 0) positive.push_back(i);
  const Table counted_rows = take_rows(table, positive);
  const JointModel model = *shared_fit(table, request).model;
  for (size_t t = 0; t < 2; ++t) {
    const Model& own = model.models()[t];
    const Table rows = take_rows(known_rows(counted_rows, own.target()).table, own.split().valid);
    expect_noise_of(own, rows, at::tensor(rows.find("w")->values, at::kDouble));
  }
}

TEST(SharedNetworkFit, LearnsARowForTheTargetsThatDoNotLeaveItOut) {
  Table table = shared_targets(300);
  table.columns[3].values[1] = 1e9;  // a wrong cell of b, in a row without a
  table.columns[3].values[2] = -1e9;
  const JointRequest request = sharing("dnn");
  const JointModel model = *shared_fit(table, request).model;
  EXPECT_LT(model.models()[1].schema().task.y_scale, 1e3);
  EXPECT_LT(network_of(model, 1).head.noise_var, 0.3);
  EXPECT_EQ(network_of(model, 0).summary.valid_rows, std::ssize(model.models()[0].split().valid));
}

/// Returns what a fit of this request is refused with.
std::string sharing_refusal(const JointRequest& request) {
  return error_of([&] { shared_fit(shared_targets(60), request); });
}

TEST(SharedNetworkFit, RefusesWhatCannotShareANetwork) {
  expect_has(sharing_refusal(sharing("dbk")), "a method that starts from a trained network; received dbk");
  expect_has(sharing_refusal(sharing("dbk")), "rich-bll");
  JointRequest classes = sharing("bll", "a,c");
  expect_has(sharing_refusal(classes), "target c: expected a number as a target of a shared network");
  JointRequest again = sharing("bll");
  again.fit.options["refit"] = true;
  expect_has(sharing_refusal(again), "`.refit`");
  JointRequest centred = sharing("bll");
  centred.fit.target_scale = "centred";
  expect_has(sharing_refusal(centred), "`.target_scale=centred`");
  JointRequest tuned = sharing("dnn");
  tuned.fit.tune = {"hidden"};
  expect_has(sharing_refusal(tuned), "received `.hidden`");
  FitOptions one = sharing("dnn").fit;
  one.target = "a";
  one.ignore = {"b", "c", "w"};
  expect_has(error_of([&] { fit_model(known_rows(shared_targets(60), "a").table, one); }),
             "expected several targets of a table for `.share_network`");
}

/// Ends a fit as a kill does, in the training of the network after some steps or where a part begins.
struct KilledInPart : Callback {
  int64_t step = 0;  // 0: never
  std::string part = "";
  std::vector<std::string> notes = {};
  void report(const Progress& progress) override {
    if (step > 0 && progress.step >= step) throw std::runtime_error("killed");
  }
  void stage(const std::string& name) override {
    if (!part.empty() && name.starts_with(part)) throw std::runtime_error("killed");
  }
  void note(const std::string& sentence) override { notes.push_back(sentence); }
};

TEST(SharedNetworkFit, AKilledFitGoesOnToTheSameBits) {
  const fs::path folder = fs::path(testing::TempDir()) / "shared_network_fit";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const fs::path path = folder / "joint.safetensors", network = path.string() + ".network",
                 checkpoint = network.string() + ".ckpt";
  const Table table = shared_targets(300);
  const JointRequest request = sharing("bll");
  const auto fit = [&](bool resume, Callback& callback, uint64_t seed = 0) {
    JointRequest own = request;
    own.fit.seed = seed;
    return fit_joint(FitFile(path, resume, /*checkpoint_every=*/0), table, own, nullptr, {}, callback);
  };
  KilledInPart in_training;
  in_training.step = 60;
  EXPECT_THROW(fit(false, in_training), std::runtime_error);
  EXPECT_TRUE(fs::exists(checkpoint));
  EXPECT_FALSE(fs::exists(network));
  KilledInPart of_another_fit;
  EXPECT_THROW(fit(true, of_another_fit, 7), std::invalid_argument);
  KilledInPart at_the_second;
  at_the_second.part = "target 2 of 2";
  EXPECT_THROW(fit(true, at_the_second), std::runtime_error);
  EXPECT_TRUE(fs::exists(network));
  EXPECT_FALSE(fs::exists(checkpoint));
  EXPECT_THROW(fit(true, of_another_fit, 7), std::invalid_argument);
  KilledInPart never;
  const JointModel resumed = *fit(true, never).model, whole = *shared_fit(table, request).model;
  EXPECT_TRUE(std::ranges::any_of(never.notes, [](const std::string& note) {
    return note.find(".network is finished already") != note.npos;
  }));
  EXPECT_FALSE(fs::exists(network));
  EXPECT_TRUE(fs::exists(path));
  for (size_t t = 0; t < 2; ++t) {
    const Regression p = resumed.models()[t].predict(table), q = whole.models()[t].predict(table);
    EXPECT_TRUE(at::equal(p.mean, q.mean));
    EXPECT_TRUE(at::equal(p.epistemic_var, q.epistemic_var));
    EXPECT_TRUE(at::equal(p.aleatoric_var, q.aleatoric_var));
  }
}

}  // namespace
}  // namespace slimbayes
