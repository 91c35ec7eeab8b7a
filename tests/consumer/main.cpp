// A program of a user of the installed library: it reads a table, fits, saves, loads and predicts.
#include <ATen/ATen.h>
#include <slimbayes/slimbayes.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>

namespace {

// Writes rows of y = sin(3 x) plus a fast cosine in place of noise.
void write_csv(const char* path) {
  std::ofstream file(path);
  file << "x,y\n";
  for (int i = 0; i < 200; ++i) {
    const double x = -1 + i / 100.0;
    file << x << ',' << std::sin(3 * x) + 0.05 * std::cos(97.0 * i) << '\n';
  }
}

// Returns whether an exception of the library is caught by its type.
bool is_caught() {
  try {
    slimbayes::read_table("absent.csv");
  } catch (const slimbayes::DataError&) {
    return true;
  } catch (const std::exception&) {
  }
  return false;
}

int run() {
  if (!is_caught()) {
    std::fputs("a file that is absent is no DataError to a program\n", stderr);
    return 1;
  }
  write_csv("train.csv");
  const slimbayes::Table table = slimbayes::read_table("train.csv");

  slimbayes::FitOptions fit;
  fit.target = "y";
  fit.method = "dbk";
  fit.options = {{"steps", 300}};
  const slimbayes::Model model = slimbayes::fit_model(table, fit);
  model.save("model.safetensors");

  const auto loaded = slimbayes::Model::load("model.safetensors");
  const slimbayes::Regression before = model.predict(table);
  const slimbayes::Regression p = loaded.predict(table);
  const at::Tensor sd = at::sqrt(slimbayes::total_var(p));  // [n]
  std::printf("slimbayes %s: mean %.6f, sd %.6f at x = %g\n", slimbayes::version(),
              p.mean[100].item<double>(), sd[100].item<double>(), table.columns[0].values[100]);

  const bool sane =
      p.mean.size(0) == table.rows && at::isfinite(p.mean).all().item<bool>() && (sd > 0).all().item<bool>();
  if (!sane || !at::equal(before.mean, p.mean)) {
    std::fputs("the loaded model does not predict what the fitted one did\n", stderr);
    return 1;
  }
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
