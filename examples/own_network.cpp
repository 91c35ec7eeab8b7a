// Adds a posterior variance to a network that PyTorch trained: the module's mean, an epistemic sd of
// rich-bll.
// Compile with examples/CMakeLists.txt. `python3 own_network.py data/concrete.csv FOLDER` makes the files;
// run: own_network FOLDER head
#include <ATen/ATen.h>
#include <slimbayes/slimbayes.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <variant>
#include <vector>

namespace sb = slimbayes;

namespace {

/// Returns the rows of a table of numbers whose last column is the target, as the module takes them.
sb::Dataset rows_of(const std::filesystem::path& path) {
  const sb::Table table = sb::read_table(path);
  std::vector<at::Tensor> columns;
  for (const auto& column : table.columns) columns.push_back(at::tensor(column.values, at::kDouble));
  const at::Tensor y = columns.back();  // [n]
  columns.pop_back();
  return sb::regression_data(at::stack(columns, 1).to(at::kFloat), y);  // class_data for classes
}

sb::Regression answer(const sb::Fitted& fitted, const sb::Dataset& data) {
  return std::get<sb::Regression>(fitted.predict(data));
}

void run(const std::filesystem::path& folder, const char* last_layer) {
  // A module is a program, which this line and every prediction run: load only files that you trust.
  const auto network = sb::ScriptNetwork::read(folder / "net.pt", last_layer);
  const sb::Split split = {rows_of(folder / "train.csv"), rows_of(folder / "valid.csv")};
  const auto fitted = sb::rich_bll(network, split);  // trains nothing
  for (const std::string& note : fitted->summary().notes) std::printf("note: %s\n", note.c_str());
  for (const std::string& fact : fitted->summary().facts) std::printf("%s\n", fact.c_str());

  const sb::Dataset test = rows_of(folder / "test.csv");
  const at::Tensor truth = test.all().target;
  const sb::Regression p = answer(*fitted, test), plain = answer(*sb::bll(network, split), test);
  std::puts("    mean  noise sd  epistemic sd    truth");
  for (int64_t i = 0; i < 5; ++i) {
    std::printf("%8.2f  %8.2f  %12.2f %8.2f\n", p.mean[i].item<double>(),
                p.aleatoric_var[i].sqrt().item<double>(), p.epistemic_var[i].sqrt().item<double>(),
                truth[i].item<double>());
  }
  std::printf("%lld test rows: rmse %.2f, nll %.3f (bll %.3f)\n", static_cast<long long>(test.size()),
              sb::root_mean_squared_error(p, truth), sb::regression_nll(p, truth),
              sb::regression_nll(plain, truth));

  // Far from the data the epistemic sd grows, with rich-bll more than with bll.
  const sb::Dataset far = sb::regression_data(3 * test.all().inputs[0], truth);
  const auto sd = [](const sb::Regression& one) { return one.epistemic_var.sqrt().mean().item<double>(); };
  std::printf(
      "mean epistemic sd: %.2f on the test rows, %.2f on rows three times as large (bll %.2f, %.2f)\n", sd(p),
      sd(answer(*fitted, far)), sd(plain), sd(answer(*sb::bll(network, split), far)));

  // The file holds the module too. More rows need no training.
  sb::write_tensor_file(folder / "rich.safetensors", fitted->save());
  const auto loaded = sb::registry_row("rich-bll").load(sb::read_tensor_file(folder / "rich.safetensors"));
  const auto more = loaded->exact_posterior()->updated(test, {});
  std::printf("the loaded model answers %s; with the test rows too, their mean epistemic sd is %.2f\n",
              at::equal(answer(*loaded, test).epistemic_var, p.epistemic_var) ? "alike" : "otherwise",
              sd(answer(*more, test)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: own_network FOLDER LAST_LAYER\n", stderr);
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
