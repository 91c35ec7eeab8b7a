#pragma once

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/model.h"
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

/// Reads a model file, then asks the model for answers, for a report and for its own file.
inline bool try_model(const Bytes& bytes, const Examples& examples) {
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
