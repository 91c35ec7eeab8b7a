#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fields.h"

namespace slimbayes {

/// What `predict` says as JSON: a struct of catalog/fields.h. `rows` stands here for its description; the
/// tool writes the rows one after the other (format_json_rows).
struct PredictionReport {
  std::string task = {};
  std::optional<std::vector<double>> levels = {};
  std::optional<std::string> split = {};
  std::optional<std::vector<std::string>> targets = {};
  std::vector<std::map<std::string, nlohmann::json>> rows = {};
};

template <class V>
void describe(PredictionReport& f, V& v) {
  v("task", f.task, "task of the model, such as regression; joint of several targets");
  v("levels", f.levels, "levels of the intervals and sets; not of segmentation and draws");
  v("split", f.split, "the part that is answered: train, valid, calibration or test; with such a choice");
  v("targets", f.targets, "names of the targets; of a model of several");
  v("rows", f.rows, "an object for each line of the table: the cells by the names of the columns");
}

}  // namespace slimbayes
