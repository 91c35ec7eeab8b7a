// demo: shows in some minutes what the tool does. It compares the default method with three others on a
// small real table and prints their scores. Then it fits the three to synthetic data with a known
// distribution (deep basis kernel paper, N section 4.1) and draws their 95 % bands beside the true band.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/report/chart.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kMethods[] = {"dbk", "dnn", "gp-exact"};
constexpr double kLevel = 0.95, kHalfWidth = 1.959964;  // kHalfWidth: half of a 95 % interval, in sds
constexpr int64_t kShownPoints = 500, kGrid = 401, kGpIterations = 25;

fs::path example_table(const fs::path& share) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(share, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".csv") || name.ends_with(".csv.gz")) found.push_back(entry.path());
  }
  if (found.empty())
    throw DataError(share.string(),
                    "expected the example table *.csv; none; set SLIMBAYES_SHARE to its folder");
  return *std::ranges::min_element(found);
}

/// Returns the options of a method for the demo. A method that tries candidates keeps its defaults, so that
/// the demo shows what a user gets.
json demo_options(const std::string& method, int64_t steps) {
  const MethodInfo& info = find_method(method);
  json given = json::object();
  for (const OptionDoc& doc : options_of(info, given)) {
    if (info.candidates) break;
    if (doc.name == "steps") given["steps"] = steps;
    if (doc.name == "iterations") given["iterations"] = kGpIterations;
  }
  return info.resolve(given);
}

Model fitted(const Table& table, const std::string& method, const std::string& target, const DemoRequest& r,
             double test_fraction, const std::vector<std::string>& ignore) {
  FitOptions fit{
      .target = target, .method = method, .options = demo_options(method, r.steps), .threads = r.threads};
  fit.test_fraction = test_fraction;
  fit.ignore = ignore;
  ProgressPrinter progress(method);
  Model model = fit_model(table, fit, nullptr, &progress);
  if (InterruptGuard::interrupted()) throw Interrupted("the demo was interrupted");
  return model;
}

void real_table(const DemoRequest& r, const fs::path& model_path) {
  const fs::path path = example_table(r.share);
  const Table table = read_table(path);
  const std::string target = table.columns.back().name;
  print(fmt::format("{}: {} rows, target {}, a fifth kept for the test\n", shown(path.filename().string()),
                    table.rows, shown(target)));
  std::vector<std::vector<Cell>> rows = {
      {{"method"}, {"mae"}, {"rmse"}, {"nll"}, {"crps"}, {"coverage"}, {"width"}, {"seconds"}}};
  const std::string& usual = default_method(TaskKind::regression).name;
  std::vector<std::string> methods = {usual};
  methods.insert(methods.end(), std::begin(kMethods), std::end(kMethods));
  for (const std::string& method : methods) {
    const auto begin = std::chrono::steady_clock::now();
    const Model model = fitted(table, method, target, r, 0.2, {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto metrics = field_numbers(model.evaluate(take_rows(table, model.split().test), kLevel));
    std::vector<Cell> row = {{method}};
    for (const char* metric : {"mae", "rmse", "nll", "crps", "coverage", "width"})
      row.push_back({rounded(metrics.at(metric))});
    row.push_back({fmt::format("{:.1f}", seconds)});
    rows.push_back(std::move(row));
    if (method == usual) model.save(model_path);
  }
  print(text_table(rows));
}

std::vector<double> picked(const Table& table, const std::string& name, const std::vector<int64_t>& rows) {
  std::vector<double> out;
  for (int64_t row : rows) out.push_back(table.find(name)->values[static_cast<size_t>(row)]);
  return out;
}

/// Returns marks that every panel shows. With `points` true: the first data points. With `points` false: two
/// lines along x, the lower and upper limit of the true 95 % band.
std::vector<Mark> points_and_truth(const Table& table, bool points) {
  std::vector<int64_t> order(static_cast<size_t>(table.rows));
  std::iota(order.begin(), order.end(), 0);
  if (points) {
    order.resize(static_cast<size_t>(std::min(table.rows, kShownPoints)));
    return {{Mark::Kind::points,
             "data (at most 500)",
             "#4a5568",
             0.45,
             picked(table, "x", order),
             picked(table, "y", order),
             {},
             false,
             1.3}};
  }
  const std::vector<double>& x = table.find("x")->values;
  std::ranges::sort(order, {}, [&](int64_t row) { return x[static_cast<size_t>(row)]; });
  std::vector<int64_t> some;  // about 400 points, which suffice for a line
  for (size_t i = 0; i < order.size(); i += 1 + order.size() / 400) some.push_back(order[i]);
  order = std::move(some);
  const std::vector<double> mean = picked(table, "true_mean", order), sd = picked(table, "true_sd", order);
  std::vector<double> lower, upper;
  for (size_t i = 0; i < mean.size(); ++i) {
    lower.push_back(mean[i] - kHalfWidth * sd[i]);
    upper.push_back(mean[i] + kHalfWidth * sd[i]);
  }
  const std::vector<double> sorted = picked(table, "x", order);
  return {{Mark::Kind::line, "true 95 % band", "#1a202c", 0.9, sorted, lower, {}, true, 1.1},
          {Mark::Kind::line, "", "#1a202c", 0.9, sorted, upper, {}, true, 1.1}};
}

/// Returns the mean NLL of these rows under the true distribution. A method can be better only by chance.
double oracle_nll(const Table& table, const std::vector<int64_t>& rows) {
  const at::Tensor sd = at::tensor(picked(table, "true_sd", rows), at::kDouble);
  const at::Tensor mean = at::tensor(picked(table, "true_mean", rows), at::kDouble);
  return regression_nll({mean, sd.square(), at::zeros_like(mean)},
                        at::tensor(picked(table, "y", rows), at::kDouble));
}

Panel panel(const Table& table, const Table& grid, const Model& model) {
  const Regression p = model.predict(grid);
  const Interval total = model.interval(p, kLevel);
  const at::Tensor spread = kHalfWidth * p.epistemic_var.sqrt();
  const std::vector<double> x = grid.columns[0].values;
  const std::string& method = model.method();
  const Evaluation report = model.evaluate(take_rows(table, model.split().test), kLevel);
  Panel result{method,
               fmt::format("test NLL {:.2f} (truth {:.2f}), {:.0f} % inside", report.nll,
                           oracle_nll(table, model.split().test), 100 * report.coverage.value()),
               {}};
  result.marks.push_back({Mark::Kind::band, "95 % of the prediction", "#3182ce", 0.22, x,
                          numbers(total.lower), numbers(total.upper)});
  if (find_method(method).parts == SdParts::calibrated) {
    result.marks.push_back({Mark::Kind::band, "its epistemic part", "#dd6b20", 0.38, x,
                            numbers(p.mean - spread), numbers(p.mean + spread)});
  }
  for (Mark& mark : points_and_truth(table, true)) result.marks.push_back(std::move(mark));
  for (Mark& mark : points_and_truth(table, false)) result.marks.push_back(std::move(mark));
  result.marks.push_back({Mark::Kind::line, "mean", "#2c5282", 1, x, numbers(p.mean), {}, false, 2});
  return result;
}

void bands(const DemoRequest& r, const fs::path& path) {
  const Table table = generate("steps", r.rows, Stream(0));
  Table grid;
  grid.rows = kGrid;
  grid.columns = {column("x", at::linspace(-1.25, 1.25, kGrid, at::kDouble))};
  Chart chart{"Bands on data whose noise is known: steps with noise of sd 0.4 |sin 10x|",
              "x",
              "y",
              {-1.25, 1.25},
              {-1.6, 2.0},
              {}};
  for (const char* method : kMethods) {
    chart.panels.push_back(panel(table, grid, fitted(table, method, "y", r, 0.1, {"true_mean", "true_sd"})));
  }
  const std::string image = svg(chart);
  write_atomically(path, std::as_bytes(std::span(image)));
}

}  // namespace

int run_command(const DemoRequest& r) {
  const fs::path folder = r.out, model = folder / "model.safetensors", image = folder / "bands.svg";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw DataError(r.out, "expected a folder that can be made; " + failed.message());
  check_writable(model);
  check_writable(image);
  InterruptGuard interrupt;
  real_table(r, model);
  bands(r, image);
  print(fmt::format("\n{} is the model of {}: slimbayes describe {}\n{} shows the three methods' bands\n",
                    shown(model.string()), default_method(TaskKind::regression).name, shown(model.string()),
                    shown(image.string())));
  return kDone;
}

}  // namespace slimbayes::cli
