// A model file as it answers rows without libtorch.
//
// Contents  The encoder, the calibration scores and the description of the rows (engine/row_spec_file.h) that
//           Model::to_file wrote; nothing of the method itself is read.
// Threads   Each thread keeps the memory that an answer needs, and what it prepared for the levels of the
// last models that it asked.
#include "slimbayes/serve/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "slimbayes/density/unit.h"
#include "slimbayes/encoding/row_encoder.h"
#include "slimbayes/engine/row_spec_file.h"
#include "slimbayes/serve/row_regression.h"
#include "slimbayes/serve/serve_file.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/memory.h"
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
  bool epistemic;  // ServedFile::epistemic
  Encoder encoder;
  RowEncoder cells;
  RowRegression rows;
  std::vector<ColumnInfo> columns;

  State(ServedFile parts, RowRegression regression)
      : id(next_id()),
        method(std::move(parts.method)),
        epistemic(parts.epistemic),
        encoder(std::move(parts.encoder)),
        cells(encoder, std::move(parts.missing)),
        rows(std::move(regression)) {
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
  std::vector<double> numbers, x;
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

RowAnswer answered(const RowEncoder& cells, const RowRegression& rows, std::span<const double> row,
                   Worker& worker) {
  worker.encoded.resize(static_cast<size_t>(rows.inputs()));
  cells.encode(row, worker.encoded);
  worker.x.assign(worker.encoded.begin(), worker.encoded.end());
  const RowAnswer answer = rows.answer(worker.x, worker.memory);
  check_answer(std::isfinite(answer.mean) && std::isfinite(answer.sd()));
  return answer;
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
    std::shared_ptr<const engine::RowModel> rows = engine::row_model(parts.rows);
    check(rows != nullptr, "serve", "a model that the engine can compute in the memory at hand", "another");
    check(static_cast<double>(rows->scratch()) * sizeof(double) < static_cast<double>(memory_at_hand()),
          "serve", "a model that the memory at hand can answer", "a larger one");
    const auto inputs = std::ssize(parts.encoder.schema().features);
    check(rows->inputs() == inputs, "serve", "a model of the encoder's inputs", "one of others");
    RowRegression regression(std::move(rows), parts.encoder.schema().task, parts.least_noise,
                             std::move(parts.calibration));
    state = std::make_shared<const State>(std::move(parts), std::move(regression));
  });
  return state;
}

const std::vector<ColumnInfo>& Model::columns() const { return state_->columns; }

std::string Model::describe() const {
  const Task& task = state_->encoder.schema().task;
  json columns = json::array();
  for (const ColumnInfo& column : state_->columns) {
    json& one = columns.emplace_back(json{{"name", column.name}, {"type", name_of(column.type)}});
    if (column.type == ColumnType::category) one["levels"] = column.levels;
  }
  const json all = {{"method", state_->method},
                    {"task", slimbayes::name_of(task.kind)},
                    {"target", state_->encoder.target_name()},
                    {"target_mean", task.y_shift},
                    {"target_sd", task.y_scale},
                    {"sd_parts", state_->epistemic ? "aleatoric and epistemic" : "noise and function"},
                    {"columns", columns}};
  return all.dump();
}

Answer Model::predict(std::span<const double> row, double level) const {
  Worker& worker = Worker::own();
  const RowRegression::Level& at = worker.level_of(state_->id, state_->rows, level);
  const RowAnswer answer = answered(state_->cells, state_->rows, row, worker);
  return with_interval(answer, state_->rows.interval(answer, at, worker.memory));
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

void Model::predict(std::span<const double> rows, std::span<Answer> out, double level) const {
  const size_t columns = state_->columns.size();
  if (rows.size() != columns * out.size())
    refuse(kFunction, fmt::format("{} rows of {} cells", out.size(), columns),
           fmt::format("{} cells", rows.size()));
  for (size_t i = 0; i < out.size(); ++i)
    numbered(i, [&] { out[i] = predict(rows.subspan(i * columns, columns), level); });
}

double Model::quantile(std::span<const double> row, double probability) const {
  Worker& worker = Worker::own();
  const RowAnswer answer = answered(state_->cells, state_->rows, row, worker);
  const double at = state_->rows.quantile(answer, probability, worker.memory);
  check_answer(std::isfinite(at));
  return at;
}

Scores Model::scores(std::span<const double> row) const {
  const RowDistance far = state_->cells.distance(row);
  return {far.beyond, far.distance};
}

}  // namespace slimbayes::serve
