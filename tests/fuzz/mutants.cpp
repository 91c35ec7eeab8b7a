// mutants KIND FIRST COUNT SECONDS  Tries seeded mutants of one KIND (models: of tables; joint: of several
// targets; serve: of tables and of inputs, by the serving library alone; inputs: models of windows, images
// and texts; checkpoints, csv, parquet or feather), beginning with seed FIRST: at most COUNT of them, for at
// most SECONDS. Each must end in a finite answer or in an error for the user, within five seconds of
// processor time (thirty under a sanitiser) and 1 GB (8 GB under a sanitiser). Otherwise the program prints
// the seed and fails. After a crash the seed is in the file that SLIMBAYES_MUTANT names.
#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iterator>

#include "cli/describe.h"
#include "cli/terminal.h"
#include "tests/fuzz/checkpoint_trial.h"
#include "tests/fuzz/input_mutator.h"
#include "tests/fuzz/joint_trial.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/fuzz/model_trial.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/table_trial.h"
#include "tests/fuzz/trial.h"

namespace {

using namespace slimbayes;
using namespace slimbayes::trial;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitised = true;
#else
constexpr bool kSanitised = false;
#endif
constexpr double kSeconds = kSanitised ? 30 : 5;
constexpr double kGigabytes = kSanitised ? 8 : 1;

struct BaseModel {
  std::string name;
  TensorFile file;
  Examples examples;
};

std::vector<BaseModel> base_models(const std::vector<Subject>& subjects) {
  std::vector<BaseModel> all;
  for (const Subject& subject : subjects) {
    Examples examples = examples_for(subject.fit);
    TensorFile file = fit_model(examples, subject.fit).to_file();
    all.push_back({subject.name, std::move(file), std::move(examples)});
  }
  return all;
}

/// Checks that what `slimbayes describe` prints of a mutant contains no control characters for a terminal.
void check_description(const Folder& folder, const Bytes& bytes) {
  const auto path = folder / "mutant.safetensors";
  write(path, bytes);
  answers([&] {
    const std::string text = cli::describe(path.string(), false);
    if (cli::shown_lines(text) != text) throw NotFinite("describe prints what commands a terminal");
    cli::describe(path.string(), true);
  });
}

double gigabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

/// Writes the kind and seed of the next mutant to the file that SLIMBAYES_MUTANT names, so that they survive
/// a crash.
void leave_seed(const std::string& text) {
  const char* path = std::getenv("SLIMBAYES_MUTANT");
  if (path != nullptr) std::ofstream(path) << text << "\n";
}

using Try = std::function<bool(std::mt19937_64&, std::string& what)>;

Try kind_of(const std::string& kind, const Folder& folder) {
  if (kind == "serve") {
    std::vector<BaseModel> served = base_models(subjects()), of_inputs = base_models(input_subjects());
    std::ranges::move(of_inputs, std::back_inserter(served));
    std::erase_if(served, [](const BaseModel& one) { return !one.file.metadata.contains("serve"); });
    return [all = std::move(served)](std::mt19937_64& random, std::string& what) {
      const BaseModel& base = one_of(all, random);
      what = base.name;
      const Bytes bytes = mutant_for_serving(base.file, random);
      return answers([&] { check_served(bytes); });
    };
  }
  if (kind == "models" || kind == "inputs") {
    const bool tables = kind == "models";
    return [&folder, tables, all = base_models(tables ? subjects() : input_subjects())](
               std::mt19937_64& random, std::string& what) {
      const BaseModel& base = one_of(all, random);
      what = base.name;
      const Bytes bytes = tables ? mutant_of(base.file, random) : mutant_of_input(base.file, random);
      check_description(folder, bytes);
      return try_model(bytes, base.examples);
    };
  }
  if (kind == "joint") {
    return [table = small_table(), file = joint_file(small_table())](std::mt19937_64& random, std::string&) {
      return try_joint(mutant_of(file, random), table);
    };
  }
  if (kind == "checkpoints") {
    std::vector<StoppedFit> stopped = stopped_fits();
    for (StoppedFit& one : stopped_input_fits()) stopped.push_back(std::move(one));
    return [all = std::move(stopped)](std::mt19937_64& random, std::string& what) {
      const StoppedFit& base = one_of(all, random);
      what = base.name;
      return try_checkpoint(base, random);
    };
  }
  if (kind != "csv" && kind != "parquet" && kind != "feather")
    throw std::invalid_argument("KIND is models, joint, serve, inputs, checkpoints, csv, parquet or feather");
  return [&folder, kind](std::mt19937_64& random, std::string&) { return try_table(folder, kind, random); };
}

int run(const std::string& kind, uint64_t first, uint64_t count, double seconds) {
  const Folder folder;
  const Try attempt = kind_of(kind, folder);
  const auto start = std::chrono::steady_clock::now();
  uint64_t done = 0, answered = 0;
  int failed = 0;
  for (; done < count; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    const uint64_t seed = first + done;
    std::mt19937_64 random(seed);
    leave_seed(fmt::format("{} {}", kind, seed));
    std::string what, fault;
    const std::clock_t before = std::clock();
    alarm(300);
    try {
      answered += attempt(random, what) ? 1 : 0;
    } catch (const std::exception& error) {
      fault = error.what();
    }
    alarm(0);
    const double taken = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (taken > kSeconds) fault += fmt::format(" {:.1f} s", taken);
    if (gigabytes() > kGigabytes) fault += fmt::format(" {:.1f} GB", gigabytes());
    if (fault.empty()) continue;
    std::printf("mutants %s %llu 1 300: %s: %s\n", kind.c_str(), static_cast<unsigned long long>(seed),
                what.c_str(), fault.c_str());
    if (++failed == 20 || gigabytes() > kGigabytes) break;
  }
  std::printf("%s: %llu mutants, %llu answered, %d failed, %.2f GB\n", kind.c_str(),
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(answered), failed,
              gigabytes());
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::invalid_argument("usage: mutants KIND FIRST COUNT SECONDS");
  at::set_num_threads(1);
  return run(argv[1], std::stoull(argv[2]), std::stoull(argv[3]), std::stod(argv[4]));
} catch (const std::exception& error) {
  std::fprintf(stderr, "mutants: %s\n", error.what());
  return 2;
}
