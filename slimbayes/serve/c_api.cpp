// The functions of slimbayes_serve.h: pointers are checked here, exceptions become a status and a sentence.
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimbayes/serve/model.h"
#include "slimbayes/serve/slimbayes_serve.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/version.h"

struct slimbayes_model {
  slimbayes::serve::Model model;
  std::string description;
};

namespace {

using slimbayes::serve::Answer;
using slimbayes::serve::ClassAnswer;
using slimbayes::serve::Model;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

slimbayes_status failed(slimbayes_status status, const char* what) {
  try {
    last_error() = slimbayes::without_functions(what);
  } catch (...) {
    last_error().clear();
  }
  return status;
}

/// Runs the call and returns its status. No exception leaves it.
template <class Call>
slimbayes_status guarded(Call call) {
  try {
    call();
    return SLIMBAYES_OK;
  } catch (const std::invalid_argument& error) {
    return failed(SLIMBAYES_BAD_ARGUMENT, error.what());
  } catch (const slimbayes::DataError& error) {
    return failed(SLIMBAYES_BAD_DATA, error.what());
  } catch (const slimbayes::NumericalError& error) {
    return failed(SLIMBAYES_NUMERICAL, error.what());
  } catch (const std::bad_alloc&) {
    return failed(SLIMBAYES_NO_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return failed(SLIMBAYES_INTERNAL, error.what());
  } catch (...) {
    return failed(SLIMBAYES_INTERNAL, "an unknown exception");
  }
}

void expect(bool ok, const char* what) {
  if (!ok) throw std::invalid_argument(what);
}

/// Throws unless the caller has set the size of its struct.
void check_size(size_t size) {
  constexpr size_t kLargest = 1024;  // a later version's struct is smaller; a size that nobody set rarely is
  expect(size >= sizeof(size_t) + sizeof(double) && size <= kLargest && size % sizeof(double) == 0,
         "expected the size of the struct in the field size of the first answer; received another number");
}

/// Throws unless the arguments of a call on rows are there.
void check_call(const slimbayes_model* model, const void* rows, size_t count, const void* out) {
  expect(model != nullptr, "expected a model; received a null pointer");
  expect(count == 0 || (rows != nullptr && out != nullptr),
         "expected rows and a place for their answers; received a null pointer");
}

slimbayes_answer in_c(const Answer& answer, size_t size) {
  return {size, answer.mean, answer.sd, answer.sd_aleatoric, answer.sd_epistemic, answer.lower, answer.upper};
}

slimbayes_class_answer in_c(const ClassAnswer& answer, size_t size) {
  return {size, answer.label, answer.entropy, answer.mutual_information};
}

/// Writes what the caller's struct has room for: `size` bytes of the answer to row i.
template <class Answered, class Out>
void write_answer(const Answered& answer, size_t size, Out* out, size_t i) {
  const Out full = in_c(answer, size);
  std::memcpy(reinterpret_cast<char*>(out) + i * size, &full, size < sizeof full ? size : sizeof full);
}

/// Returns the status; adds the row to the sentence of an error, if there are several.
slimbayes_status with_row(slimbayes_status status, size_t row, size_t count) {
  if (status == SLIMBAYES_OK || count <= 1) return status;
  std::string text = last_error();
  if (text.starts_with("row: ")) text.erase(0, 5);
  const char* noun = text.find(" of the window: ") == std::string::npos ? "row " : "window ";
  return failed(status, (noun + std::to_string(row + 1) + ": " + text).c_str());
}

/// Answers `count` rows to `out`, which may be a null pointer for classes, by answer_of(i). `place`: where
/// each answer goes. Errors name the row, if there are several.
template <class Out, class AnswerOf>
slimbayes_status answer_rows(const slimbayes_model* model, const void* rows, size_t count, const void* place,
                             Out* out, AnswerOf answer_of) {
  size_t at = 0;
  const slimbayes_status status = guarded([&] {
    check_call(model, rows, count, place);
    const bool writes = count > 0 && out != nullptr;
    if (writes) check_size(out->size);
    const size_t size = writes ? out->size : 0;
    for (; at < count; ++at) {
      const auto answer = answer_of(at);
      if (writes) write_answer(answer, size, out, at);
    }
  });
  return with_row(status, at, count);
}

/// The cells of a row as views; a null pointer is a missing cell.
void view_cells(const char* const* cells, std::vector<std::string_view>& out) {
  for (std::string_view& cell : out) {
    cell = *cells == nullptr ? std::string_view() : std::string_view(*cells);
    ++cells;
  }
}

std::vector<std::string_view>& cell_views(size_t columns) {
  thread_local std::vector<std::string_view> views;
  views.resize(columns);
  return views;
}

slimbayes_model* handle_of(const Model& model) {
  std::string description = model.describe();
  return new slimbayes_model{model, std::move(description)};
}

}  // namespace

const char* slimbayes_version(void) { return slimbayes::version(); }

const char* slimbayes_error(void) { return last_error().c_str(); }

slimbayes_model* slimbayes_open(const char* path) {
  slimbayes_model* opened = nullptr;
  guarded([&] {
    expect(path != nullptr, "expected a path; received a null pointer");
    opened = handle_of(Model::open(path));
  });
  return opened;
}

slimbayes_model* slimbayes_open_bytes(const void* bytes, size_t count) {
  slimbayes_model* opened = nullptr;
  guarded([&] {
    expect(bytes != nullptr, "expected the bytes of a model file; received a null pointer");
    opened = handle_of(Model::open(std::span(static_cast<const std::byte*>(bytes), count)));
  });
  return opened;
}

void slimbayes_close(slimbayes_model* model) { delete model; }

const char* slimbayes_describe(const slimbayes_model* model) {
  return model == nullptr ? nullptr : model->description.c_str();
}

size_t slimbayes_columns(const slimbayes_model* model) {
  return model == nullptr ? 0 : model->model.columns().size();
}

size_t slimbayes_row_cells(const slimbayes_model* model) {
  return model == nullptr ? 0 : model->model.row_cells();
}

size_t slimbayes_row_numbers(const slimbayes_model* model) {
  return model == nullptr ? 0 : model->model.row_numbers();
}

slimbayes_status slimbayes_predict(const slimbayes_model* model, const double* rows, size_t count,
                                   double level, slimbayes_answer* out) {
  constexpr size_t kTogether = 60;
  std::array<Answer, kTogether> answers;
  const size_t numbers = slimbayes_row_numbers(model);
  size_t at = 0;
  const slimbayes_status status = guarded([&] {
    check_call(model, rows, count, out);
    if (count > 0) check_size(out->size);
    const size_t size = count > 0 ? out->size : 0;
    while (at < count) {
      const size_t some = std::min(kTogether, count - at);
      std::exception_ptr refused;
      const size_t done = model->model.predict_some(std::span(rows + at * numbers, some * numbers),
                                                    std::span(answers).first(some), level, refused);
      for (size_t i = 0; i < done; ++i) write_answer(answers[i], size, out, at + i);
      at += done;
      if (refused) std::rethrow_exception(refused);
    }
  });
  return with_row(status, at, count);
}

slimbayes_status slimbayes_predict_cells(const slimbayes_model* model, const char* const* cells, size_t count,
                                         double level, slimbayes_answer* out) {
  const size_t texts = slimbayes_row_cells(model);
  return answer_rows(model, cells, count, out, out, [&](size_t i) {
    std::vector<std::string_view>& row = cell_views(texts);
    view_cells(cells + i * texts, row);
    return model->model.predict(std::span<const std::string_view>(row), level);
  });
}

size_t slimbayes_classes(const slimbayes_model* model) {
  return model == nullptr ? 0 : model->model.classes().size();
}

slimbayes_status slimbayes_classify(const slimbayes_model* model, const double* rows, size_t count,
                                    double* probabilities, slimbayes_class_answer* out) {
  const size_t numbers = slimbayes_row_numbers(model), classes = slimbayes_classes(model);
  return answer_rows(model, rows, count, probabilities, out, [&](size_t i) {
    return model->model.classify(std::span(rows + i * numbers, numbers),
                                 std::span(probabilities + i * classes, classes));
  });
}

slimbayes_status slimbayes_classify_cells(const slimbayes_model* model, const char* const* cells,
                                          size_t count, double* probabilities, slimbayes_class_answer* out) {
  const size_t texts = slimbayes_row_cells(model), classes = slimbayes_classes(model);
  return answer_rows(model, cells, count, probabilities, out, [&](size_t i) {
    std::vector<std::string_view>& row = cell_views(texts);
    view_cells(cells + i * texts, row);
    return model->model.classify(std::span<const std::string_view>(row),
                                 std::span(probabilities + i * classes, classes));
  });
}

slimbayes_status slimbayes_prediction_set(const slimbayes_model* model, const double* row, double level,
                                          unsigned char* set) {
  return guarded([&] {
    expect(model != nullptr && row != nullptr && set != nullptr,
           "expected a model, a row and a place for its set; received a null pointer");
    model->model.prediction_set(std::span(row, slimbayes_row_numbers(model)), level,
                                std::span(set, slimbayes_classes(model)));
  });
}

slimbayes_status slimbayes_numbers(const slimbayes_model* model, const char* const* cells, double* out) {
  return guarded([&] {
    expect(model != nullptr && cells != nullptr && out != nullptr,
           "expected a model, cells and a place for their numbers; received a null pointer");
    std::vector<std::string_view>& row = cell_views(slimbayes_row_cells(model));
    view_cells(cells, row);
    model->model.numbers(row, std::span(out, slimbayes_row_numbers(model)));
  });
}

slimbayes_status slimbayes_quantile(const slimbayes_model* model, const double* row, double probability,
                                    double* out) {
  return guarded([&] {
    expect(model != nullptr && row != nullptr && out != nullptr,
           "expected a model, a row and a place for its quantile; received a null pointer");
    *out = model->model.quantile(std::span(row, slimbayes_row_numbers(model)), probability);
  });
}

slimbayes_status slimbayes_scores(const slimbayes_model* model, const double* row, double* beyond,
                                  double* distance) {
  return guarded([&] {
    expect(model != nullptr && row != nullptr && beyond != nullptr && distance != nullptr,
           "expected a model, a row and places for its scores; received a null pointer");
    const slimbayes::serve::Scores scores = model->model.scores(std::span(row, slimbayes_row_numbers(model)));
    *beyond = scores.beyond;
    *distance = scores.distance;
  });
}
