#include "slimbayes/serve/serve_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/engine/spec/row_spec_file.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

using nlohmann::json;

const std::string kServe(kServeKey);
// Versions of what store_served() writes. A reader of the first one alone would leave the weights of a
// calibration out, and so give intervals and sets of another level: it refuses the second. A reader of these
// two would answer a target within bounds by its transform: it refuses the third.
constexpr int kServeVersion = 1, kWeightedVersion = 2, kBoundedVersion = 3;
constexpr const char *kVersion = "version", *kNoise = "least_noise", *kEpistemic = "epistemic",
                     *kRows = "rows", *kInterrupted = "interrupted", *kPartsNote = "parts_note",
                     *kScores = "calibration.scores", *kGroups = "calibration.groups",
                     *kWeights = "calibration.weights", *kCalibrationGroups = "calibration.by",
                     *kDamaged = "the model file is damaged";

/// Returns the elements of a list of the file, which must have this type.
template <class Number>
std::vector<Number> list_of(const TensorFile& file, const char* name) {
  constexpr StoredType type = std::is_same_v<Number, double> ? StoredType::f64 : StoredType::i64;
  const StoredTensor& stored = file.tensors.at(name);
  check(stored.type == type && stored.shape.size() == 1, "serve", "a list of numbers", "another array",
        kDamaged);
  std::vector<Number> values(stored.bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), stored.bytes.data(), stored.bytes.size());
  return values;
}

/// As ConformalScores: groups are numbered from 0 in the order of their numbers.
CalibrationScores calibration_of(const TensorFile& file) {
  if (!file.tensors.contains(kScores)) return {};
  CalibrationScores scores{list_of<double>(file, kScores), {}, 0};
  const bool sane = !scores.value.empty() &&
                    std::ranges::all_of(scores.value, [](double one) { return std::isfinite(one); }) &&
                    std::ranges::is_sorted(scores.value) && scores.value.front() >= 0 &&
                    std::isfinite(scores.value.back());
  check(sane, "serve", "calibration scores from 0 in ascending order", "others", kDamaged);
  const auto m = scores.value.size();
  if (file.tensors.contains(kWeights)) {
    scores.weight = list_of<double>(file, kWeights);
    const bool positive =
        std::ranges::all_of(scores.weight, [](double w) { return w > 0 && std::isfinite(w); });
    check(positive && scores.weight.size() == m, "serve", "a weight above 0 for each calibration score",
          "others", kDamaged);
    check_calibration_weight(scores.weight, "serve", kDamaged);
  }
  if (!file.tensors.contains(kGroups)) {
    scores.groups = static_cast<int64_t>(m);
    for (size_t i = 0; i < m; ++i) scores.group.push_back(static_cast<int64_t>(i));
    return scores;
  }
  scores.group = list_of<int64_t>(file, kGroups);
  check(scores.group.size() == m, "serve", "a group for each calibration score", "others", kDamaged);
  std::vector<int64_t> numbers = scores.group;
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (int64_t& group : scores.group) group = std::ranges::lower_bound(numbers, group) - numbers.begin();
  scores.groups = std::ssize(numbers);
  return scores;
}

/// Returns whether a network in the file has attention, which serving does not know.
bool has_attention(const TensorFile& file) {
  return std::ranges::any_of(file.metadata, [](const auto& one) {
    return one.first.ends_with("network") && one.second.find("\"attention\"") != std::string::npos;
  });
}

/// Throws std::invalid_argument where the file has no description of its rows, and says why.
void check_served(const TensorFile& file, const std::string& method) {
  check(stored_text(file, "kind") == "model", "serve", "a model file", "another file of slimbayes");
  if (file.tensors.contains("adaptive.scores"))
    refuse("serve", "a model whose intervals stay as they are",
           "one with adaptive intervals, which follow the targets of a series",
           "`slimbayes predict` answers every model");
  check(!file.tensors.contains(kCalibrationGroups), "serve", "a model with one calibration for all rows",
        "one with `.calibrate_by`, whose groups only `slimbayes predict` and Python know",
        "fit it without `.calibrate_by`");
  if (!file.metadata.contains(kServe))
    refuse("serve", "a model of rows, windows or texts, by a method and a network that the engine knows",
           fmt::format("a model of {}{}", foreign_text(method.substr(0, 40)),
                       has_attention(file) ? " around a transformer" : ""),
           has_attention(file) ? "fit it around the network lstm, for windows, or bag_of_words, for texts; "
                                 "`slimbayes predict` answers every model"
                               : "`slimbayes predict` answers every model");
}

TaskKind task_of(const engine::AnswerSpec& rows) {
  if (std::holds_alternative<engine::ClassSpec>(rows)) return TaskKind::classification;
  return std::holds_alternative<engine::RateSpec>(rows) ? TaskKind::counts : TaskKind::regression;
}

}  // namespace

void store_served(const ServedFile& parts, TensorFile& file) {
  const auto fit = file.metadata.find("fit");
  const bool bounds = fit != file.metadata.end() && json::parse(fit->second).contains("bounds");
  const int weights = file.tensors.contains(kWeights) ? kWeightedVersion : kServeVersion;
  const int version = bounds ? kBoundedVersion : weights;
  json serve = {{kVersion, version}, {kNoise, parts.least_noise}, {kEpistemic, parts.epistemic}};
  if (parts.interrupted) serve[kInterrupted] = true;
  if (parts.parts_note) serve[kPartsNote] = *parts.parts_note;
  serve[kRows] = engine::store_rows(parts.rows, file);
  file.metadata[kServe] = serve.dump();
}

void drop_served(TensorFile& file) {
  file.metadata.erase(kServe);
  std::erase_if(file.tensors, [](const auto& one) { return one.first.starts_with(kRowsPrefix); });
}

ServedFile served_file(const TensorFile& file) {
  ServedFile parts;
  parts.method = stored_text(file, "method");
  check_served(file, parts.method);
  const json fit = stored_json(file, "fit");
  FitOptions given;  // those that answers need; Model::from_file checks them all
  given.na = fit.at("na").get<std::vector<std::string>>();
  given.thousands = fit.value("thousands", given.thousands);
  given.decimal = fit.value("decimal", given.decimal);
  given.separator = fit.value("separator", given.separator);
  given.date_format = fit.value("date_format", given.date_format);
  parts.missing = marks_of(given);
  parts.notation = notation_of(given);
  parts.encoder = served_encoder(stored_json(file, "encoder"));
  const Task& task = schema_of(parts.encoder).task;
  const json serve = stored_json(file, kServe);
  const int version = serve.value(kVersion, 0);
  check(version >= kServeVersion && version <= kBoundedVersion, "serve",
        "a file of this version of the library", "one of another",
        "`slimbayes predict` and `slimbayes export` of the newer version read it");
  parts.least_noise = serve.at(kNoise).get<double>();
  check(parts.least_noise >= 0 && std::isfinite(parts.least_noise), "serve", "a noise variance of at least 0",
        "another value", kDamaged);
  parts.epistemic = serve.at(kEpistemic).get<bool>();
  parts.interrupted = serve.value(kInterrupted, false);
  if (serve.contains(kPartsNote)) parts.parts_note = serve.at(kPartsNote).get<std::string>();
  parts.rows = engine::stored_rows(serve.at(kRows), file);
  check(task.kind == task_of(parts.rows), "serve", "rows of the model's task", "those of another", kDamaged);
  parts.calibration = calibration_of(file);
  return parts;
}

}  // namespace slimbayes
