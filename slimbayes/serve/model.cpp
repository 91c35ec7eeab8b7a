// A model file as it answers rows without libtorch.
//
// Contents  The encoder, the calibration scores and the description of the rows
//           (engine/spec/row_spec_file.h) that Model::to_file wrote; nothing of the method itself is read.
// Threads   Each thread keeps the memory that an answer needs, and what it prepared for the levels of the
//           last models that it asked.
#include "slimbayes/serve/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>
#include <variant>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/density/count.h"
#include "slimbayes/serve/description.h"
#include "slimbayes/serve/input_cells.h"
#include "slimbayes/serve/served_rows.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes::serve {

namespace {

constexpr const char* kFunction = "predict";

}  // namespace

struct Model::State {
  uint64_t id;  // of this process, so that a thread knows whose level it prepared
  InputCells cells;
  ServedRows rows;
  std::vector<ColumnInfo> columns;
  std::vector<std::string> classes;
  std::string description;

  State(const ServedFile& parts, ServedRows answers)
      : id(next_id()),
        cells(input_cells(parts.encoder, parts.missing, parts.notation)),
        rows(std::move(answers)),
        columns(columns_in(parts.encoder, cells)),
        classes(schema_of(parts.encoder).task.levels),
        description(description_of(parts, columns)) {}

  static uint64_t next_id() {
    static std::atomic<uint64_t> last = 0;
    return ++last;
  }
};

namespace {

/// What a thread keeps between two answers.
struct Worker {
  struct Prepared {
    uint64_t id = 0;
    RowRegression::Level level;
  };

  RowRegression::Memory memory;
  std::vector<double> numbers, x, probabilities;
  std::vector<float> encoded;
  std::array<Prepared, 8> prepared;
  size_t next = 0;

  static Worker& own() {
    thread_local Worker worker;
    return worker;
  }

  const RowRegression::Level& level_of(uint64_t id, const RowRegression& rows, double level) {
    for (const Prepared& one : prepared)
      if (one.id == id && one.level.level == level) return one.level;
    Prepared& one = prepared[next++ % prepared.size()];
    one.id = 0;  // in case at_level() throws
    one.level = rows.at_level(level);
    one.id = id;
    return one.level;
  }
};

void check_answer(bool finite) {
  if (!finite)
    throw NumericalError(
        "[predict] expected a finite answer; received one that overflows; the row lies too far from the "
        "training rows, or the level is too near 1");
}

const RowRegression& regression(const ServedRows& rows) {
  const auto* found = std::get_if<RowRegression>(&rows);
  check(found != nullptr, kFunction, "a model of numbers or counts", "one of classes",
        "classify() answers its rows");
  return *found;
}

const RowClasses& classification(const ServedRows& rows) {
  const auto* found = std::get_if<RowClasses>(&rows);
  check(found != nullptr, "classify", "a model of classes", "one of numbers or counts",
        "predict() answers its rows");
  return *found;
}

/// Encodes the row and adds it to worker.x.
void add_row(const InputCells& cells, std::span<const double> row, Worker& worker) {
  worker.encoded.resize(static_cast<size_t>(width_of(cells)));
  std::visit([&](const auto& one) { one.encode(row, worker.encoded); }, cells);
  worker.x.insert(worker.x.end(), worker.encoded.begin(), worker.encoded.end());
}

/// Encodes the row to worker.x.
void encode(const InputCells& cells, std::span<const double> row, Worker& worker) {
  worker.x.clear();
  add_row(cells, row, worker);
}

const RowAnswer& checked(const RowAnswer& answer) {
  check_answer(std::isfinite(answer.mean) && std::isfinite(answer.sd()));
  return answer;
}

/// Computes the encoded rows at once; returns false where one of them has no answer.
bool together(const RowRegression& rows, size_t count, Worker& worker) {
  try {
    rows.answer_together(worker.x, static_cast<int64_t>(count), worker.memory);
    return true;
  } catch (const NumericalError&) {
    return false;
  }
}

/// Answers the encoded row.
RowAnswer answered(const RowRegression& rows, Worker& worker) {
  return checked(rows.answer(worker.x, worker.memory));
}

LogRate answered(const RowRates& rows, Worker& worker) {
  worker.memory.scratch.reserve(rows->scratch());
  const LogRate rate = rows->answer(worker.x.data(), worker.memory.scratch.data()).rate;
  check_answer(std::isfinite(rate.rate_mean()) && std::isfinite(rate.rate_var()));
  return rate;
}

Answer with_interval(const RowAnswer& answer, const RowInterval& range) {
  check_answer(std::isfinite(range.lower) && std::isfinite(range.upper));
  return {answer.mean, answer.sd(), std::sqrt(answer.aleatoric_var), std::sqrt(answer.epistemic_var),
          range.lower, range.upper};
}

/// Runs the call for row `i` of several, whose number from 1 becomes a part of the message of an error.
template <class Call>
void numbered(size_t i, Call call) {
  const auto said = [i](const std::exception& error) {
    return fmt::format("row {}: {}", i + 1, without_functions(error.what()));
  };
  try {
    call();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(said(error));
  } catch (const NumericalError& error) {
    throw NumericalError(said(error));
  } catch (const DataError& error) {
    throw DataError(fmt::format("row {}", i + 1), without_functions(error.what()));
  }
}

}  // namespace

Model::Model(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Model Model::open(const std::filesystem::path& path) {
  return Model(opened(read_tensor_file(path), path.string()));
}

Model Model::open(std::span<const std::byte> bytes, std::string_view name) {
  return Model(opened(parse_tensor_file(bytes, name), std::string(name)));
}

std::shared_ptr<const Model::State> Model::opened(const TensorFile& file, const std::string& name) {
  check_model_kind(file, name);
  std::shared_ptr<const State> state;
  read_contents(name, "it cannot be served", [&] {
    ServedFile parts = served_file(file);
    ServedRows rows = served_rows(parts);
    parts.rows = {};
    state = std::make_shared<const State>(parts, std::move(rows));
  });
  return state;
}

const std::vector<ColumnInfo>& Model::columns() const { return state_->columns; }

size_t Model::row_cells() const { return cells_of(state_->cells); }
size_t Model::row_numbers() const { return numbers_of(state_->cells); }

const std::vector<std::string>& Model::classes() const { return state_->classes; }

std::string Model::describe() const { return state_->description; }

Answer Model::predict(std::span<const double> row, double level) const {
  Worker& worker = Worker::own();
  encode(state_->cells, row, worker);
  if (const auto* rates = std::get_if<RowRates>(&state_->rows)) {
    check_level(level, "interval");
    const LogRate rate = answered(*rates, worker);
    const double mean = rate.rate_mean(), var = rate.rate_var();
    return {mean,
            std::sqrt(mean + var),
            std::sqrt(mean),
            std::sqrt(var),
            count_quantile(rate, (1 - level) / 2),
            count_quantile(rate, (1 + level) / 2)};
  }
  const RowRegression& rows = regression(state_->rows);
  const RowRegression::Level& at = worker.level_of(state_->id, rows, level);
  const RowAnswer answer = answered(rows, worker);
  return with_interval(answer, rows.interval(answer, at, worker.memory));
}

ClassAnswer Model::classify(std::span<const double> row, std::span<double> p) const {
  const RowClasses& rows = classification(state_->rows);
  if (p.size() != classes().size())
    refuse("classify", fmt::format("a place for {} probabilities", classes().size()),
           std::to_string(p.size()));
  Worker& worker = Worker::own();
  encode(state_->cells, row, worker);
  const RowClasses::Entropies entropies = rows.answer(worker.x, p, worker.memory.scratch);
  check_answer(std::isfinite(entropies.predictive) && std::isfinite(entropies.mutual_information));
  const auto label = static_cast<size_t>(std::ranges::max_element(p) - p.begin());
  return {label, entropies.predictive, entropies.mutual_information};
}

ClassAnswer Model::classify(std::span<const std::string_view> cells, std::span<double> p) const {
  Worker& worker = Worker::own();
  worker.numbers.resize(row_numbers());
  numbers(cells, worker.numbers);
  return classify(std::span<const double>(worker.numbers), p);
}

void Model::prediction_set(std::span<const double> row, double level, std::span<unsigned char> set) const {
  const double threshold = classification(state_->rows).threshold(level);
  Worker& worker = Worker::own();
  if (set.size() != classes().size())
    refuse("prediction_set", fmt::format("a place for {} classes", classes().size()),
           std::to_string(set.size()));
  worker.probabilities.resize(set.size());
  classify(row, worker.probabilities);
  mark_set(worker.probabilities, uniform_of(state_->cells, worker.encoded), threshold, set);
}

void Model::numbers(std::span<const std::string_view> cells, std::span<double> out) const {
  const size_t texts = row_cells(), numbers = row_numbers();
  if (cells.size() != texts)
    refuse(kFunction,
           texts == columns().size() ? fmt::format("{} cells", texts)
                                     : fmt::format("{} rows of {} cells, after each other",
                                                   texts / columns().size(), columns().size()),
           fmt::format("{} cells", cells.size()), "the description of the model names the columns");
  if (out.size() != numbers)
    refuse(kFunction, fmt::format("a place for {} numbers", numbers), std::to_string(out.size()));
  std::visit([&](const auto& one) { one.read(cells, out); }, state_->cells);
}

Answer Model::predict(std::span<const std::string_view> cells, double level) const {
  Worker& worker = Worker::own();
  worker.numbers.resize(row_numbers());
  numbers(cells, worker.numbers);
  return predict(std::span<const double>(worker.numbers), level);
}

size_t Model::predict_some(std::span<const double> rows, std::span<Answer> out, double level,
                           std::exception_ptr& refused) const {
  const size_t numbers = row_numbers();
  const auto* regression = std::get_if<RowRegression>(&state_->rows);
  Worker& worker = Worker::own();
  size_t done = 0;
  refused = nullptr;
  try {
    while (done < out.size()) {
      const auto row = [&](size_t i) { return rows.subspan(i * numbers, numbers); };
      if (regression == nullptr) {
        out[done] = predict(row(done), level);
        ++done;
        continue;
      }
      const RowRegression::Level& at = worker.level_of(state_->id, *regression, level);
      size_t count = 0;
      worker.x.clear();
      try {
        for (; count < RowRegression::kMostRows && done + count < out.size(); ++count)
          add_row(state_->cells, row(done + count), worker);
      } catch (...) {  // the rows before it are answered first
        refused = std::current_exception();
      }
      if (count > 0 && !together(*regression, count, worker)) {  // one by one, up to the row that fails
        for (const size_t end = done + count; done < end; ++done) out[done] = predict(row(done), level);
        continue;
      }
      for (size_t i = 0; i < count; ++i, ++done) {
        const RowAnswer answer = checked(regression->answer_of(static_cast<int64_t>(i), worker.memory));
        out[done] = with_interval(answer, regression->interval(answer, at, worker.memory));
      }
      if (refused) break;
    }
  } catch (...) {
    refused = std::current_exception();
  }
  return done;
}

void Model::predict(std::span<const double> rows, std::span<Answer> out, double level) const {
  const size_t numbers = row_numbers();
  if (rows.size() != numbers * out.size())
    refuse(kFunction, fmt::format("{} rows of {} numbers", out.size(), numbers),
           fmt::format("{} numbers", rows.size()));
  std::exception_ptr refused;
  const size_t done = predict_some(rows, out, level, refused);
  if (refused) numbered(done, [&] { std::rethrow_exception(refused); });
}

double Model::quantile(std::span<const double> row, double probability) const {
  Worker& worker = Worker::own();
  encode(state_->cells, row, worker);
  if (const auto* rates = std::get_if<RowRates>(&state_->rows))
    return count_quantile(answered(*rates, worker), probability);
  const RowRegression& rows = regression(state_->rows);
  const double at = rows.quantile(answered(rows, worker), probability, worker.memory);
  check_answer(std::isfinite(at));
  return at;
}

Scores Model::scores(std::span<const double> row) const {
  const RowDistance far = std::visit([&](const auto& one) { return one.distance(row); }, state_->cells);
  return {far.beyond, far.distance};
}

}  // namespace slimbayes::serve
