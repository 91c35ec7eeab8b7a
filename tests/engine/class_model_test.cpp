#include "slimbayes/engine/classes/class_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "slimbayes/engine/buffer.h"

namespace slimbayes::engine {
namespace {

/// Logits of three classes on two inputs and a constant, in two contrasts.
CorrelatedLogits logits_of_three() {
  CorrelatedLogits spec;
  spec.features.inputs = 2;
  spec.last = 5;
  spec.outputs = 2;
  spec.weights = {1, 0.5, 0.1, -0.3, 2, 0};
  spec.contrasts = {-0.7, -0.4, 0.7, -0.4, 0, 0.8};
  spec.of_features = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  spec.of_classes = {1, 0, 0, 1};
  spec.variances = {0.1, 0.2, 0.1, 0.2, 0.01, 0.02};
  return spec;
}

std::vector<double> class_answer(const ClassModel& model, const std::vector<double>& x) {
  std::vector<double> p(static_cast<size_t>(model.classes()));
  Doubles scratch(model.scratch());
  model.answer(x.data(), p.data(), scratch.data());
  return p;
}

TEST(CorrelatedClasses, AnswerTheSameByTheFactorAndByItsKroneckerForm) {
  const CorrelatedLogits kronecker = logits_of_three();
  CorrelatedLogits full = kronecker;
  full.half.assign(36, 0.0);
  for (int c = 0; c < 2; ++c)  // diagonal: the roots of the variances
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<size_t>(3 * c + i);
      full.half[7 * at] = std::sqrt(kronecker.variances[static_cast<size_t>(2 * i + c)]);
    }
  const auto a = class_answer(*class_model({kronecker}), {0.4, -1}),
             b = class_answer(*class_model({full}), {0.4, -1});
  ASSERT_EQ(a.size(), 3);
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(a[c], b[c], 1e-12);
  EXPECT_NEAR(a[0] + a[1] + a[2], 1, 1e-14);
}

TEST(CorrelatedClasses, RefuseFactorsOfOtherSizes) {
  const std::vector<std::function<void(CorrelatedLogits&)>> damages = {
      [](CorrelatedLogits& s) { s.outputs = 0; },
      [](CorrelatedLogits& s) { s.outputs = int64_t{1} << 31; },
      [](CorrelatedLogits& s) {
        s.contrasts = {1, -1};
      },  // one logit of two contrasts
      [](CorrelatedLogits& s) { s.contrasts.assign(8, 1.0); },
      [](CorrelatedLogits& s) { s.weights.pop_back(); },
      [](CorrelatedLogits& s) { s.weights.clear(); },  // and no network whose outputs are the means
      [](CorrelatedLogits& s) { s.centre = {1}; },
      [](CorrelatedLogits& s) {
        s.half = {1, 2};
      },
      [](CorrelatedLogits& s) { s.of_features.pop_back(); },
      [](CorrelatedLogits& s) { s.of_classes.push_back(1); },
      [](CorrelatedLogits& s) { s.variances.clear(); },
      [](CorrelatedLogits& s) { s.scale = INFINITY; },
      [](CorrelatedLogits& s) { s.last = NAN; },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    CorrelatedLogits broken = logits_of_three();
    damages[i](broken);
    EXPECT_THROW(class_model({broken}), std::invalid_argument) << i;
  }
  // Of a hundred logits in one contrast the work would have no room.
  CorrelatedLogits wide;
  wide.features.inputs = 1;
  wide.outputs = 100;
  wide.weights.assign(100, 1.0);
  wide.contrasts.assign(100, 1.0);
  wide.of_features = {1};
  wide.of_classes.assign(10000, 1.0);
  wide.variances.assign(100, 1.0);
  EXPECT_THROW(class_model({wide}), std::invalid_argument);
}

TEST(CorrelatedClasses, HaveNoAnswerWhereTheCovarianceOverflows) {
  for (const double scale : {1e160, 1e100, 1e77}) {
    CorrelatedLogits spec = logits_of_three();
    spec.scale = scale;
    bool sound = true;
    for (const double p : class_answer(*class_model({spec}), {3, 4}))
      sound = sound && (std::isnan(p) || (p >= 0 && p <= 1));
    EXPECT_TRUE(sound) << scale;
  }
}

TEST(IndependentClasses, RefuseMoreLogitsThanTheMemoryHolds) {
  IndependentLogits spec;
  spec.features.inputs = 1;
  EXPECT_THROW(class_model({spec}), std::invalid_argument);
  spec.heads.resize(2);
  EXPECT_EQ(class_model({spec})->classes(), 2);
}

}  // namespace
}  // namespace slimbayes::engine
