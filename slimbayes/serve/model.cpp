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
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/density/count.h"
#include "slimbayes/encoding/row_encoder.h"
#include "slimbayes/serve/served_rows.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes::serve {

namespace {

using nlohmann::json;

constexpr const char* kFunction = "predict";

ColumnType type_of(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::boolean:
      return ColumnType::boolean;
    case ColumnKind::categorical:
      return ColumnType::category;
    case ColumnKind::datetime:
      return ColumnType::time;
    default:
      return ColumnType::number;
  }
}

const char* name_of(ColumnType type) {
  constexpr std::array names = {"number", "boolean", "category", "time"};
  return names[static_cast<size_t>(type)];
}

}  // namespace

struct Model::State {
  uint64_t id;  // of this process, so that a thread knows whose level it prepared
  std::string method;
  bool epistemic;   // ServedFile::epistemic
  bool calibrated;  // whether intervals and sets are
  Encoder encoder;
  RowEncoder cells;
  ServedRows rows;
  std::vector<ColumnInfo> columns;

  State(ServedFile parts, ServedRows answers)
      : id(next_id()),
        method(std::move(parts.method)),
        epistemic(parts.epistemic),
        calibrated(parts.calibration.groups > 0),
        encoder(std::move(parts.encoder)),
        cells(encoder, std::move(parts.missing)),
        rows(std::move(answers)) {
    for (const Encoder::Feature& feature : cells.columns())
      columns.push_back({feature.name, type_of(feature.kind), feature.levels});
  }

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
void add_row(const RowEncoder& cells, int64_t inputs, std::span<const double> row, Worker& worker) {
  worker.encoded.resize(static_cast<size_t>(inputs));
  cells.encode(row, worker.encoded);
  worker.x.insert(worker.x.end(), worker.encoded.begin(), worker.encoded.end());
}

/// Encodes the row to worker.x.
void encode(const RowEncoder& cells, int64_t inputs, std::span<const double> row, Worker& worker) {
  worker.x.clear();
  add_row(cells, inputs, row, worker);
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
    state = std::make_shared<const State>(std::move(parts), std::move(rows));
  });
  return state;
}

const std::vector<ColumnInfo>& Model::columns() const { return state_->columns; }

const std::vector<std::string>& Model::classes() const { return state_->encoder.schema().task.levels; }

std::string Model::describe() const {
  const Task& task = state_->encoder.schema().task;
  json columns = json::array();
  for (const ColumnInfo& column : state_->columns) {
    json& one = columns.emplace_back(json{{"name", column.name}, {"type", name_of(column.type)}});
    if (column.type == ColumnType::category) one["levels"] = column.levels;
  }
  json all = {{"method", state_->method},
              {"task", slimbayes::name_of(task.kind)},
              {"target", state_->encoder.target_name()},
              {"calibrated", state_->calibrated},
              {"columns", columns}};
  if (task.kind == TaskKind::classification) {
    all["classes"] = classes();
    return all.dump();
  }
  all["target_mean"] = task.y_shift;
  all["target_sd"] = task.y_scale;
  const bool apart = state_->epistemic || task.kind == TaskKind::counts;
  all["sd_parts"] = apart ? "aleatoric and epistemic" : "noise and function";
  return all.dump();
}

Answer Model::predict(std::span<const double> row, double level) const {
  Worker& worker = Worker::own();
  encode(state_->cells, inputs_of(state_->rows), row, worker);
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
  encode(state_->cells, rows.inputs(), row, worker);
  const RowClasses::Entropies entropies = rows.answer(worker.x, p, worker.memory.scratch);
  check_answer(std::isfinite(entropies.predictive) && std::isfinite(entropies.mutual_information));
  const auto label = static_cast<size_t>(std::ranges::max_element(p) - p.begin());
  return {label, entropies.predictive, entropies.mutual_information};
}

ClassAnswer Model::classify(std::span<const std::string_view> cells, std::span<double> p) const {
  Worker& worker = Worker::own();
  worker.numbers.resize(state_->columns.size());
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
  mark_set(worker.probabilities, row_uniform(worker.encoded), threshold, set);
}

void Model::numbers(std::span<const std::string_view> cells, std::span<double> out) const {
  const size_t columns = state_->columns.size();
  if (cells.size() != columns || out.size() != columns)
    refuse(kFunction, fmt::format("{} cells", columns), std::to_string(cells.size()), "columns() names them");
  for (size_t j = 0; j < columns; ++j) out[j] = state_->cells.number_of(j, cells[j]);
}

Answer Model::predict(std::span<const std::string_view> cells, double level) const {
  Worker& worker = Worker::own();
  worker.numbers.resize(state_->columns.size());
  numbers(cells, worker.numbers);
  return predict(std::span<const double>(worker.numbers), level);
}

size_t Model::predict_some(std::span<const double> rows, std::span<Answer> out, double level,
                           std::exception_ptr& refused) const {
  const size_t columns = state_->columns.size();
  const auto* regression = std::get_if<RowRegression>(&state_->rows);
  Worker& worker = Worker::own();
  size_t done = 0;
  refused = nullptr;
  try {
    while (done < out.size()) {
      const auto row = [&](size_t i) { return rows.subspan(i * columns, columns); };
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
          add_row(state_->cells, regression->inputs(), row(done + count), worker);
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
  const size_t columns = state_->columns.size();
  if (rows.size() != columns * out.size())
    refuse(kFunction, fmt::format("{} rows of {} cells", out.size(), columns),
           fmt::format("{} cells", rows.size()));
  std::exception_ptr refused;
  const size_t done = predict_some(rows, out, level, refused);
  if (refused) numbered(done, [&] { std::rethrow_exception(refused); });
}

double Model::quantile(std::span<const double> row, double probability) const {
  Worker& worker = Worker::own();
  encode(state_->cells, inputs_of(state_->rows), row, worker);
  if (const auto* rates = std::get_if<RowRates>(&state_->rows))
    return count_quantile(answered(*rates, worker), probability);
  const RowRegression& rows = regression(state_->rows);
  const double at = rows.quantile(answered(rows, worker), probability, worker.memory);
  check_answer(std::isfinite(at));
  return at;
}

Scores Model::scores(std::span<const double> row) const {
  const RowDistance far = state_->cells.distance(row);
  return {far.beyond, far.distance};
}

}  // namespace slimbayes::serve
