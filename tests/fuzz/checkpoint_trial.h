#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/train/checkpoint.h"
#include "tests/fuzz/model_trial.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/trial.h"
#include "tests/storage/sample.h"

// Checkpoints of fits and of series of fits, and fits that go on from mutants of them.

namespace slimbayes::trial {

/// Stops a fit after a given number of rounds.
class StopAfter : public Callback {
 public:
  explicit StopAfter(int rounds) : left_(rounds) {}
  void report(const Progress&) override { --left_; }
  bool stop() override { return left_ <= 0; }

 private:
  int left_;
};

/// A stopped fit with the files it left: its checkpoint and the checkpoints of its parts.
struct StoppedFit {
  std::string name;
  FitOptions fit;
  std::vector<std::pair<std::string, TensorFile>> files;
};

inline CheckpointPolicy checkpoint_in(const Folder& folder, bool resume) {
  return {folder / "m.ckpt", resume, "{}", 0};
}

inline StoppedFit stopped_fit(const std::string& name, FitOptions fit, int rounds) {
  const Folder folder;
  StopAfter callback(rounds);
  fit_model(examples_for(fit), fit, nullptr, &callback, checkpoint_in(folder, false));
  StoppedFit out{name, std::move(fit), {}};
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    out.files.emplace_back(entry.path().filename().string(), read_tensor_file(entry.path()));
  std::ranges::sort(out.files, {}, [](const auto& file) { return file.first; });
  if (out.files.empty()) throw std::logic_error(name + " left no checkpoint");
  return out;
}

/// Returns stopped fits of every structure: plain fits, noise folds, an ensemble, a search, and a search over
/// ensembles.
inline std::vector<StoppedFit> stopped_fits() {
  const auto fit = [](const char* method, int folds) {
    FitOptions small = small_fit(find_method(method), LikelihoodKind::gaussian);
    small.options["steps"] = 20;
    small.options["patience"] = 0;
    small.noise_folds = folds;
    return small;
  };
  std::vector<StoppedFit> all;
  all.push_back(stopped_fit("dnn", fit("dnn", 0), 4));
  all.push_back(stopped_fit(
      "vbll softmax",
      [&] {
        FitOptions classes = small_fit(find_method("vbll"), LikelihoodKind::softmax);
        classes.options["steps"] = 20;
        return classes;
      }(),
      4));
  all.push_back(stopped_fit("dbk folds", fit("dbk", 3), 28));
  all.push_back(stopped_fit("ensemble folds", fit("ensemble", 2), 25));
  FitOptions search = fit("dbk", 0);
  search.tune = {"alpha"};
  all.push_back(stopped_fit("search", search, 28));
  search.method = "ensemble";
  search.noise_folds = 2;
  search.options["members"] = 2;
  search.options["of"] = "dbk";
  all.push_back(stopped_fit("search of ensembles", search, 65));
  return all;
}

/// Checkpoints with what those of tables lack: running averages beside the parameters, a plan by the texts'
/// lengths.
inline std::vector<StoppedFit> stopped_input_fits() {
  std::vector<StoppedFit> all;
  for (const auto& [method, kind, target] :
       {std::tuple{"dnn", InputKind::images, ""}, {"vbll", InputKind::text, "yes"}}) {
    FitOptions fit = small_fit(method, kind, target);
    fit.options["steps"] = 20;
    fit.options["patience"] = 0;
    all.push_back(stopped_fit(fmt::format("{} {}", name_of(kind), method), fit, 4));
  }
  return all;
}

/// Mutates one of a stopped fit's files and resumes the fit from them.
inline bool try_checkpoint(const StoppedFit& stopped, std::mt19937_64& random) {
  const Folder folder;
  const size_t which = below(random, stopped.files.size());
  for (size_t i = 0; i < stopped.files.size(); ++i) {
    const auto& [name, file] = stopped.files[i];
    write(folder / name, i == which ? mutant_of(file, random) : to_bytes(file));
  }
  const Examples examples = examples_for(stopped.fit);
  return answers([&] {
    const Model model = fit_model(examples, stopped.fit, nullptr, nullptr, checkpoint_in(folder, true));
    check_answers(model, examples);
    Model::from_file(model.to_file(), "again");
  });
}

}  // namespace slimbayes::trial
