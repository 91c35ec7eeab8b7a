// serve_bench MODEL                  Prints what the model is, as slimbayes_describe() says it.
// serve_bench MODEL SECONDS CELL...  Times what libslimbayes_serve does with a model file, and prints one
// JSON object: the time to open it, microseconds a row of numbers and of texts with an interval, rows a
// second on one and on two threads, and the memory that the open model takes.
#include <malloc.h>
#include <slimbayes_serve.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

long resident_bytes() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

/// Returns the median over blocks of the seconds of one call.
template <class Call>
double seconds_per_call(double budget, Call call) {
  std::vector<double> blocks;
  const auto begin = Clock::now();
  int64_t calls = 1;
  while (blocks.size() < 15 || seconds_since(begin) < budget) {
    const auto block = Clock::now();
    for (int64_t i = 0; i < calls; ++i) call();
    const double took = seconds_since(block);
    if (took < budget / 60) {
      calls *= 2;
      continue;
    }
    blocks.push_back(took / static_cast<double>(calls));
  }
  std::nth_element(blocks.begin(), blocks.begin() + static_cast<long>(blocks.size() / 2), blocks.end());
  return blocks[blocks.size() / 2];
}

/// Answers rows by a model of numbers or counts, with an interval, or of classes; keeps the memory.
class Asker {
 public:
  Asker(const slimbayes_model* model, size_t rows)
      : model_(model), answers_(rows), probabilities_(rows * slimbayes_classes(model)) {
    answers_[0].size = sizeof(slimbayes_answer);
  }

  void numbers(const double* rows) {
    check(probabilities_.empty()
              ? slimbayes_predict(model_, rows, answers_.size(), 0.9, answers_.data())
              : slimbayes_classify(model_, rows, answers_.size(), probabilities_.data(), nullptr));
  }

  /// Answers one row of texts.
  void texts(const char* const* cells) {
    check(probabilities_.empty()
              ? slimbayes_predict_cells(model_, cells, 1, 0.9, answers_.data())
              : slimbayes_classify_cells(model_, cells, 1, probabilities_.data(), nullptr));
  }

 private:
  static void check(slimbayes_status status) {
    if (status == SLIMBAYES_OK) return;
    std::fprintf(stderr, "error: %s\n", slimbayes_error());
    std::exit(1);
  }

  const slimbayes_model* model_;
  std::vector<slimbayes_answer> answers_;
  std::vector<double> probabilities_;
};

double rows_per_second(const slimbayes_model* model, const std::vector<double>& row, int threads,
                       double budget) {
  constexpr int kRows = 256;
  std::vector<std::thread> workers;
  std::vector<int64_t> done(static_cast<size_t>(threads));
  const auto begin = Clock::now();
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      std::vector<double> rows;
      for (int i = 0; i < kRows; ++i) rows.insert(rows.end(), row.begin(), row.end());
      Asker asker(model, kRows);
      while (seconds_since(begin) < budget) {
        asker.numbers(rows.data());
        done[static_cast<size_t>(t)] += kRows;
      }
    });
  for (std::thread& worker : workers) worker.join();
  int64_t all = 0;
  for (const int64_t count : done) all += count;
  return static_cast<double>(all) / seconds_since(begin);
}

/// The numbers of a row of texts.
std::vector<double> row_of(const slimbayes_model* model, const std::vector<std::string>& cells) {
  std::vector<const char*> texts;
  for (const std::string& cell : cells) texts.push_back(cell.c_str());
  std::vector<double> row(slimbayes_row_numbers(model));
  if (slimbayes_numbers(model, texts.data(), row.data()) != SLIMBAYES_OK) {
    std::fprintf(stderr, "error: %s\n", slimbayes_error());
    std::exit(1);
  }
  return row;
}

int describe(const char* path) {
  slimbayes_model* model = slimbayes_open(path);
  if (model == nullptr)
    std::fprintf(stderr, "error: %s\n", slimbayes_error());
  else
    std::printf("%s\n", slimbayes_describe(model));
  slimbayes_close(model);
  return model == nullptr ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return describe(argv[1]);
  if (argc < 4) {
    std::fprintf(stderr, "usage: serve_bench MODEL [SECONDS CELL...]\n");
    return 2;
  }
  const double budget = std::atof(argv[2]);
  const std::vector<std::string> cells(argv + 3, argv + argc);
  const long before = resident_bytes();
  slimbayes_model* model = slimbayes_open(argv[1]);
  if (model == nullptr || slimbayes_row_cells(model) != cells.size()) {
    std::fprintf(stderr, "error: %s\n", model == nullptr ? slimbayes_error() : "another number of cells");
    return 1;
  }
  malloc_trim(0);
  const long memory = resident_bytes() - before;
  const double open = seconds_per_call(budget, [&] { slimbayes_close(slimbayes_open(argv[1])); });
  std::vector<double> row = row_of(model, cells);
  std::vector<const char*> texts;
  for (const std::string& cell : cells) texts.push_back(cell.c_str());
  Asker asker(model, 1);
  const double numbers = seconds_per_call(budget, [&] { asker.numbers(row.data()); });
  const double named = seconds_per_call(budget, [&] { asker.texts(texts.data()); });
  const double one = rows_per_second(model, row, 1, budget), two = rows_per_second(model, row, 2, budget);
  std::printf(
      R"({"open_ms": %.4g, "row_us": %.4g, "named_row_us": %.4g, "rows_per_s": %.5g, "rows_per_s_2": %.5g, "memory_kb": %ld})"
      "\n",
      1e3 * open, 1e6 * numbers, 1e6 * named, one, two, memory / 1024);
  slimbayes_close(model);
  return 0;
}
