#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/model.h"
#include "slimbayes/serve/model.h"
#include "tests/fuzz/trial.h"

// What is done with a mutant of a model: answers, a report, update, forget, merge.

namespace slimbayes::trial {

inline void check_answers(const Model& model, const Examples& given) {
  const Examples examples = model.examples(given);
  const Answers a = model.answers(examples, {{0.5}});
  for (const std::string& fault : non_finite(a.answer, a.levels[0].interval))
    if (!fault.empty()) throw NotFinite(fault);
  const auto far = outside(model.encoder(), examples);
  notes_for(model.encoder(), examples);
  const AnswerTable table = answer_table(model, examples, a);
  if (!std::holds_alternative<WindowTable>(examples)) return;
  for (const double time : table.table.find("forecast_time")->values)
    if (!std::isfinite(time)) throw NotFinite("the time of a forecast");
}

/// Lets a model learn examples and forget them again, forget what it knows of them, and join a shard of them.
inline void try_changes(const Model& model, const Examples& examples) {
  answers([&] {
    const Model more = Model::from_file(model.with(examples).to_file(), "more");
    answers([&] { check_answers(more, examples); });
    more.known_rows(examples);
    more.without(examples);
  });
  answers([&] { check_answers(model.without(model.learned_among(examples)), examples); });
  answers([&] { check_answers(model.merged(model.shard(examples)), examples); });
}

/// Asks a classification that is served for its answer to a row, and for its set.
inline void check_classified(const serve::Model& model, std::span<const double> row) {
  std::vector<double> p(model.classes().size());
  std::vector<unsigned char> set(p.size());
  answers([&] {
    const serve::ClassAnswer a = model.classify(row, p);
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    const bool sane = a.label < p.size() && std::abs(sum - 1) < 1e-6 && std::isfinite(a.entropy) &&
                      a.mutual_information >= 0;
    if (!sane) throw NotFinite("an answer of the serving library");
    model.prediction_set(row, 0.5, set);
  });
}

/// Returns an input of this number: of a window with times one step apart, as far as the first column is a
/// time; of a text some tokens, then the padding.
inline std::vector<double> served_row(const serve::Model& model, double cell) {
  const auto facts = nlohmann::json::parse(model.describe());
  std::vector<double> row(model.row_numbers(), cell);
  if (facts.contains("text"))
    for (size_t i = 0; i < row.size(); ++i) row[i] = i < 3 ? std::abs(cell) : 0;
  if (facts.contains("window")) {
    const size_t columns = model.columns().size();
    const double step = facts["window"]["step"].get<double>();
    for (size_t i = 0; i < row.size(); i += columns) row[i] = step * static_cast<double>(i / columns);
  }
  return row;
}

/// Opens a model file for serving, and asks it for answers to rows of numbers and of texts.
inline void check_served(const Bytes& bytes) {
  const serve::Model model = serve::Model::open(bytes, "served");
  constexpr size_t kLongestRow = 1 << 20;  // a mutant may ask for more, and then takes its time
  if (model.row_numbers() > kLongestRow) return;
  const auto check = [](const serve::Answer& a) {
    for (const double number : {a.mean, a.sd, a.sd_aleatoric, a.sd_epistemic, a.lower, a.upper})
      if (!std::isfinite(number)) throw NotFinite("an answer of the serving library");
  };
  if (!nlohmann::json::accept(model.describe())) throw NotFinite("a description that is no JSON");
  for (const double cell : {0.0, 1.0, -3.5, 1e9, kMissing}) {
    const std::vector<double> row = served_row(model, cell);
    answers([&] { check(model.predict(row, 0.5)); });
    check_classified(model, row);
    answers([&] { model.scores(row); });
    answers([&] {
      if (std::isnan(model.quantile(row, 0.3))) throw NotFinite("a quantile of the serving library");
    });
  }
  for (const char* cell : {"", "0.5", "red", "2024-01-05", "true"}) {
    const std::vector<std::string_view> cells(model.row_cells(), cell);
    answers([&] { check(model.predict(std::span<const std::string_view>(cells), 0.9)); });
    std::vector<double> p(model.classes().size());
    answers([&] { model.classify(std::span<const std::string_view>(cells), p); });
  }
}

/// Reads a model file, then asks the model for answers, for a report and for its own file.
inline bool try_model(const Bytes& bytes, const Examples& examples) {
  answers([&] { check_served(bytes); });
  return answers([&] {
    const Model model = Model::from_file(parse_tensor_file(bytes, "mutant"), "mutant");
    answers([&] { check_answers(model, examples); });
    std::vector<BadRow> bad;
    answers([&] { model.evaluate(examples, 0.5, &bad); });
    try_changes(model, examples);
    Model::from_file(model.to_file(), "again");
  });
}

}  // namespace slimbayes::trial
