#include "slimbayes/data/synthetic.h"

#include <algorithm>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

double mean_square(const std::vector<double>& a, const std::vector<double>& b,
                   const std::vector<double>& scale) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow((a[i] - b[i]) / scale[i], 2);
  return sum / static_cast<double>(a.size());
}

TEST(generate, steps_has_the_mean_and_noise_of_the_paper) {
  Table t = generate("steps", 20000, Stream(0));
  const auto &x = t.find("x")->values, &y = t.find("y")->values;
  const auto &mean = t.find("true_mean")->values, &sd = t.find("true_sd")->values;
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(x[i] > -1 && x[i] < 1);
    ASSERT_DOUBLE_EQ(sd[i], 0.4 * std::abs(std::sin(10 * x[i])));
    // The mean is flat between the steps at -.6, 0 and .4.
    double plateau = x[i] < -0.6 ? 0.3 : x[i] < 0 ? 0.9 : x[i] < 0.4 ? -0.6 : 0;
    bool near_a_step = std::min({std::abs(x[i] + 0.6), std::abs(x[i]), std::abs(x[i] - 0.4)}) < 0.1;
    ASSERT_NEAR(mean[i], plateau, near_a_step ? 1.6 : 1e-6);
  }
  EXPECT_NEAR(mean_square(y, mean, sd), 1, 0.04);
  // The NLL of the true mean and sd, for the amplitude A = 0.4.
  double nll = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double z = (y[i] - mean[i]) / sd[i];
    nll += (0.5 * z * z + std::log(sd[i]) + 0.5 * std::log(2 * M_PI)) / static_cast<double>(x.size());
  }
  EXPECT_NEAR(nll, -0.241, 0.03);
}

TEST(generate, ripple) {
  Table t = generate("ripple", 5000, Stream(0));
  Table smooth = generate("steps", 5000, Stream(0));
  for (size_t i = 0; i < 5000; ++i) {
    double x = t.find("x")->values[i];
    ASSERT_EQ(x, smooth.find("x")->values[i]);
    ASSERT_EQ(t.find("true_sd")->values[i], 0.1);
    ASSERT_NEAR(t.find("true_mean")->values[i] - smooth.find("true_mean")->values[i],
                0.01 * std::sin(50 * std::sin(10 * x)), 1e-15);
  }
}

TEST(generate, seeds_and_prefixes) {
  Table a = generate("steps", 10, Stream(3)), b = generate("steps", 20, Stream(3)),
        c = generate("steps", 10, Stream(4));
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(a.find("y")->values[i], b.find("y")->values[i]);
  EXPECT_NE(a.find("y")->values, c.find("y")->values);
  Table quiet = generate("steps", 10, Stream(3), 0);
  EXPECT_EQ(quiet.find("y")->values, quiet.find("true_mean")->values);
}

TEST(generate, errors) {
  expect_has(error_of([] { generate("stepz", 10, Stream(0)); }), "received 'stepz'; did you mean 'steps'?");
  expect_has(error_of([] { generate("steps", 0, Stream(0)); }),
             "`.rows` to be an integer from 1 to 100000000; received 0");
  expect_has(error_of([] { generate("steps", 5, Stream(0), -1); }),
             "`.amplitude` to be a number of at least 0 and below 1000000; received -1");
  for (const std::string& name : generator_names()) {
    int64_t rows = generate(name, 3, Stream(0)).rows;
    EXPECT_TRUE(rows == 3 || (name == "cox" && rows > 0)) << name;
  }
}

}  // namespace
}  // namespace slimbayes
