// Fits a table, saves the model, loads it, and predicts the mean, the sd and a 90 % interval.
// Compile with examples/CMakeLists.txt; run: fit_table examples/data/concrete.csv y
#include <ATen/ATen.h>
#include <slimbayes/slimbayes.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace sb = slimbayes;

namespace {

void run(const char* path, const char* target) {
  const sb::Table table = sb::read_table(path);  // .csv, .csv.gz, .tsv, .parquet, .feather

  sb::FitOptions fit;
  fit.target = target;
  fit.method = "dbk";               // or "dnn", "gp-exact"; `slimbayes methods` lists all
  fit.options = {{"steps", 4000}};  // other options keep their defaults: `slimbayes describe dbk`
  fit.test_fraction = 0.1;
  const sb::Model model = sb::fit_model(table, fit);
  std::printf("%s\n", model.fitted().summary().brief().c_str());
  model.save("concrete.safetensors");

  const sb::Model loaded = sb::Model::load("concrete.safetensors");
  const sb::Table test = sb::take_rows(table, loaded.split().test);
  const sb::Regression p = loaded.predict(test);       // in the target's units
  const sb::Interval range = loaded.interval(p, 0.9);  // calibrated if the model is
  const at::Tensor sd = sb::total_var(p).sqrt();       // [n]

  std::puts("    mean       sd    lower    upper    truth");
  for (int64_t i = 0; i < std::min<int64_t>(5, test.rows); ++i) {
    std::printf("%8.2f %8.2f %8.2f %8.2f %8.2f\n", p.mean[i].item<double>(), sd[i].item<double>(),
                range.lower[i].item<double>(), range.upper[i].item<double>(),
                test.find(target)->values[static_cast<size_t>(i)]);
  }
  std::printf("all test rows: %s\n", sb::fields_to_json(loaded.evaluate(test, 0.9)).dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: fit_table TABLE TARGET\n", stderr);
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception& error) {  // says what was expected, what was received, and a hint
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
