// Synthetic data whose true mean and noise are known, so that predictions can be compared with them and not
// only with noisy targets.
//
//   mean(x) = .3 (1 - s1) + .9 (s1 - s2) - .6 (s2 - s3),  s_i = sigmoid(200 (x - c_i)),  c = -.6, 0, .4
//
// The mean has three steps on [-1, 1] (section 4.1 of the deep basis kernel paper, N in docs/references.md).
// "steps" adds noise with the sd amplitude |sin 10x|, which falls to zero and rises again several times.
// "ripple" (from the earlier paper, E) adds a small fast wave, .01 sin(50 sin 10x), to the mean, and noise of
// the constant variance .01.
#include "slimbayes/data/synthetic.h"

#include <fmt/format.h>

#include <cmath>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/synthetic_counts.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

double steps_mean(double x) {
  double s1 = sigmoid(200 * (x + 0.6)), s2 = sigmoid(200 * x), s3 = sigmoid(200 * (x - 0.4));
  return 0.3 * (1 - s1) + 0.9 * (s1 - s2) - 0.6 * (s2 - s3);
}

}  // namespace

const std::vector<std::string>& generator_names() {
  static const std::vector<std::string> all = {"steps", "ripple", "counts", "cox"};
  return all;
}

Table generate(const std::string& name, int64_t rows, const Stream& stream, double amplitude) {
  check_options(GenerateOptions{rows, amplitude}, "generate");
  if (name == "counts") return generate_counts(rows, stream);
  if (name == "cox") return generate_cox(rows, stream);
  bool steps = name == "steps";
  if (!steps && name != "ripple")
    refuse("generate", "the name of a generator", fmt::format("'{}'", foreign_text(name)),
           nearest_hint(name, generator_names()));
  Table table{"generated:" + name, {}, rows};
  for (const char* column : {"x", "y", "true_mean", "true_sd"}) {
    table.columns.push_back(
        {column, ColumnKind::numeric, std::vector<double>(static_cast<size_t>(rows)), {}});
  }
  Stream inputs = stream.split("inputs"), noise = stream.split("noise");
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    double x = 2 * inputs.uniform(i) - 1, wave = std::sin(10 * x);
    double mean = steps_mean(x) + (steps ? 0 : 0.01 * std::sin(50 * wave));
    double sd = steps ? amplitude * std::abs(wave) : 0.1;
    double values[] = {x, mean + sd * noise.normal(i), mean, sd};
    for (size_t c = 0; c < 4; ++c) table.columns[c].values[i] = values[c];
  }
  return table;
}

}  // namespace slimbayes
