// Networks of every kind of input under the methods that take them: they fit, answer, are saved and loaded, and a fit that was
// stopped and resumed ends in the bits of one that was not.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "slimbayes/core/answers.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/images.h"
#include "slimbayes/data/text.h"
#include "slimbayes/methods/registry.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Windows of six steps whose target is the sum of the first feature over them.
Dataset windows(int64_t n, uint64_t seed) {
  const at::Tensor x = Stream(seed).normal({n, 6, 2}, at::kFloat);
  Schema schema{{}, {"a", "b"}};
  return dataset_of(schema, {{x}, x.select(2, 0).sum(1).to(at::kDouble) / std::sqrt(6.0)});
}

/// A bright square in the upper or the lower half.
Images squares(int64_t n, uint64_t seed) {
  const Stream stream(seed);
  Images images{"squares", (60 * stream.split("noise").uniform({n, 1, 9, 8})).to(at::kByte),
                at::empty({n}, at::kLong)};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t lower = i % 2, row = 1 + 4 * lower,
                  column = static_cast<int64_t>(5 * stream.uniform(static_cast<uint64_t>(i)));
    images.pixels[i][0].narrow(0, row, 3).narrow(1, column, 3).fill_(220);
    images.labels[i] = lower;
  }
  return images;
}

Dataset images(int64_t n, uint64_t seed, const Augmentation& augmentation = {1, true}) {
  return ImageEncoder::fit(squares(n, 1)).dataset(squares(n, seed), true, augmentation);
}

/// Reviews whose one telling word stands anywhere among others.
Table reviews(int64_t n, uint64_t seed) {
  const std::vector<std::string> other = {"the", "film", "was", "a", "story", "of", "people"};
  std::vector<double> index, label;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < n; ++i) {
    const Stream own = Stream(seed).split(static_cast<uint64_t>(i));
    std::string text;
    const auto words = 1 + static_cast<int64_t>(6 * own.uniform(uint64_t{0}));
    const auto place = static_cast<int64_t>(static_cast<double>(words) * own.uniform(uint64_t{1}));
    for (int64_t w = 0; w < words; ++w)
      text += (w == place ? (i % 2 ? "good" : "bad")
                          : other[static_cast<size_t>(7 * own.uniform(static_cast<uint64_t>(w + 2)))]) +
              " ";
    index.push_back(static_cast<double>(i));
    texts.push_back(text + std::to_string(i));
    label.push_back(static_cast<double>(i % 2));
  }
  return table_of({categories("text", index, texts), categories("label", label, {"down", "up"})});
}

Dataset texts(int64_t n, uint64_t seed) {
  const Table train = reviews(200, 1);
  return TextEncoder::fit(train, all_rows(train), {.column = "text", .longest = 12}, "label", {})
      .dataset(reviews(n, seed), true);
}

struct Case {
  std::string name;
  Dataset (*data)(int64_t n, uint64_t seed);
  std::string network;
  int64_t rows, steps;
};

Dataset varied_images(int64_t n, uint64_t seed) { return images(n, seed); }

const Case kCases[] = {{"lstm", windows, "lstm", 600, 600},
                       {"transformer over windows", windows, "transformer", 600, 600},
                       {"convnet", varied_images, "convnet", 200, 120},
                       {"resnet18", varied_images, "resnet18", 200, 30},
                       {"text", texts, "transformer", 200, 300}};

json options_for(const std::string& method, const Case& c, int64_t steps) {
  if (method == "dbk") steps *= 4;  // its predictive objective first explains errors as variance
  const bool large = c.network == "resnet18";
  json options = {{"steps", steps}, {"network", c.network}, {"hidden", large ? 4 : 16},
                  {"blocks", 1},    {"heads", 2},           {"batch", 25}};
  if (method != "dnn") options["rank"] = 8;
  return options;
}

/// Those that take the task of the data.
std::vector<std::string> methods_for(const Dataset& data) {
  if (data.schema.task.kind == TaskKind::regression) return {"dnn", "dbk", "vbll", "pp-dkl", "sv-dkl"};
  return {"dnn", "vbll", "sv-dkl"};
}

std::string bytes_of(const Fitted& fitted) {
  TensorFile file = fitted.save();
  const std::vector<std::byte> bytes = to_bytes(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Inputs, OfEveryKindAreFittedAnsweredSavedAndLoaded) {
  for (const Case& c : kCases) {
    const Dataset train = c.data(c.rows, 1), valid = c.data(c.rows / 5, 2), fresh = c.data(120, 3);
    for (const std::string& method : methods_for(train)) {
      SCOPED_TRACE(c.name + " " + method);
      const Row& row = registry_row(method);
      const auto fitted = row.make(options_for(method, c, c.steps))->fit({train, valid}, {Stream(5)});
      const Predictive p = fitted->predict(fresh);
      EXPECT_EQ(row_count(p), 120);
      for (const std::string& fault : unfinished(p)) EXPECT_EQ(fault, "");
      const Predictive again = row.load(fitted->save())->predict(fresh);
      EXPECT_EQ(*mean_nll(again, fresh.all().target), *mean_nll(p, fresh.all().target));
      if (c.network == "resnet18") continue;  // too few steps to learn anything
      const Task& task = train.schema.task;
      const double constant =
          task.kind == TaskKind::regression ? 0.5 * std::log(2 * M_PI) + 0.5 : std::log(2);
      EXPECT_LT(*mean_nll(p, fresh.all().target), constant - 0.1);
    }
  }
}

struct StopAfter : Callback {
  int64_t left;
  explicit StopAfter(int64_t steps) : left(steps) {}
  bool stop() override { return left-- <= 0; }
};

TEST(Inputs, AStoppedFitOfEveryKindEndsInTheSameBits) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "inputs.ckpt";
  for (const Case& c : kCases) {
    for (const char* method : {"dnn", "vbll"}) {
      SCOPED_TRACE(c.name + " " + method);
      const Split split{c.data(60, 1), c.data(20, 2)};
      json options = options_for(method, c, 20);
      options["dropout"] = 0.2;
      const auto fitted = [&](Callback* callback, const CheckpointPolicy& policy) {
        return registry_row(method).make(options)->fit(split, {Stream(5), callback, policy});
      };
      const std::string whole = bytes_of(*fitted(nullptr, {}));
      for (int64_t steps : {4, 11}) {
        std::filesystem::remove(path);
        StopAfter stop(steps);
        try {
          fitted(&stop, {path, false, "inputs"});
        } catch (const NumericalError&) {  // nothing was validated yet
        }
        ASSERT_TRUE(std::filesystem::exists(path));
        EXPECT_EQ(bytes_of(*fitted(nullptr, {path, true, "inputs"})), whole) << steps;
      }
    }
  }
}

TEST(Inputs, RowsOfAnotherShapeAreRefused) {
  const Dataset train = windows(60, 1);
  const auto fitted =
      registry_row("dnn").make({{"steps", 4}, {"network", "lstm"}})->fit({train, {}}, {Stream(1)});
  const Dataset wide = dataset_of({{}, {"a", "b", "c"}}, {{at::zeros({5, 6, 3})}});
  EXPECT_THROW(fitted->predict(wide), std::invalid_argument);
  const auto error = error_of([&] {
    registry_row("dnn").make({{"steps", 4}, {"network", "convnet"}})->fit({train, {}}, {Stream(1)});
  });
  expect_has(error,
             "expected a network for a sequence of 6 x 2; received 'convnet'; lstm and transformer take it");
}

}  // namespace
}  // namespace slimbayes
