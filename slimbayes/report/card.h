#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

class Model;

struct RowsOfParts {
  int64_t training = 0;
  std::optional<int64_t> validation = {}, calibration = {}, test = {};
};

template <class V>
void describe(RowsOfParts& f, V& v) {
  v("training", f.training, "rows that the model learned from");
  v("validation", f.validation, "rows that chose among parameters");
  v("calibration", f.calibration, "rows kept for the calibration");
  v("test", f.test, "rows that the fit did not see");
}

struct CardColumn {
  std::string name, kind, dropped;
};

template <class V>
void describe(CardColumn& f, V& v) {
  v("name", f.name, "name of the column");
  v("kind", f.kind, "kind of the column, such as numeric");
  v("dropped", f.dropped, "why the column is no input, or empty");
}

/// An option of the fit that differs from its default.
struct CardOption {
  std::string name;
  nlohmann::json value, fallback;
};

template <class V>
void describe(CardOption& f, V& v) {
  v("name", f.name, "name of the option");
  v("value", f.value, "its value in the fit");
  v("fallback", f.fallback, "its default");
}

/// What a reader must know of a model.
struct ModelCard {
  std::string method, summary, task, likelihood, input, target;
  RowsOfParts rows;
  std::vector<CardColumn> columns;
  std::vector<CardOption> options;
  std::string calibration;
  std::vector<std::string> noise;
};

template <class V>
void describe(ModelCard& f, V& v) {
  v("method", f.method, "name of the method");
  v("summary", f.summary, "what the method is, in a sentence");
  v("task", f.task, "task of the model, such as regression");
  v("likelihood", f.likelihood, "distribution of the target");
  v("input", f.input, "what one example is, such as a table row");
  v("target", f.target, "name of the target");
  v("rows", f.rows,
    "number of rows in each part of the split; of a model without a split the training's alone");
  v("columns", f.columns, "the columns of the fit's data");
  v("options", f.options, "options that differ from the defaults");
  v("calibration", f.calibration, "how the intervals or sets are calibrated, or empty");
  v("noise", f.noise, "sentences on the estimate of the noise");
}

ModelCard card_facts(const Model& model);

}  // namespace slimbayes
