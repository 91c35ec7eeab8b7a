#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/layers_text.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes::cli {

/// Returns a JSON value as one line that is safe to print, because a model file may come from anywhere. If
/// the value is an error message of the library, the name of the function that threw it is removed.
std::string plain(const nlohmann::json& value);

/// Returns the text as a paragraph: indented by `by` columns, wrapped to text_width(), with a newline at the
/// end.
std::string indented(const std::string& text, size_t by);

/// Returns the output of `describe METHOD`.
std::string method_text(const MethodInfo& info);

/// Returns the tasks of a method as text. A method that wraps another one (ensemble) can do a task only if
/// the wrapped method can. For it, the text lists the tasks with the default wrapped method, then names
/// another wrapped method that can do the remaining tasks.
std::string task_text(const MethodInfo& info);

/// What the tensors of a model file say, and the file itself.
struct FileFacts {
  std::string file = {};
  uint64_t bytes = 0;
  int64_t parameters = 0;
  std::map<std::string, int64_t> rows = {};
  TensorShapes tensors = {};
  std::optional<int64_t> multiply_adds = {};
  std::optional<std::vector<InducingLayer>> layers = {};
  std::optional<std::vector<ForeignScoreLayer>> ood_layers = {};
};

template <class V>
void describe(FileFacts& f, V& v) {
  v("file", f.file, "path of the file");
  v("bytes", f.bytes, "its size");
  v("parameters", f.parameters, "number of trained parameters");
  v("rows", f.rows, "number of rows in each part of the split");
  v("tensors", f.tensors, "shape of each tensor");
  v("multiply_adds", f.multiply_adds, "multiply-adds of a pass of the network");
  v("layers", f.layers, "the layers with inducing weights");
  v("ood_layers", f.ood_layers, "what the file holds for the score of foreign rows");
}

/// The facts on a model file. The file is not trusted: any entry of the metadata may be missing or have an
/// unexpected type. Facts on the file replace entries of the same name.
struct ModelFacts {
  nlohmann::json metadata = nlohmann::json::object();
  FileFacts file = {};
};

template <class V>
void describe(ModelFacts& f, V& v) {
  v.part(f.metadata);
  v.part(f.file);
}

/// Returns the facts on the contents of a model file of one target, which lies at `path`. Throws DataError if
/// they are not a model.
ModelFacts model_facts(const TensorFile& file, const std::string& path);

/// Returns the output of `describe FILE` for the facts that model_facts() read.
std::string model_text(const ModelFacts& facts);

/// The correlation of the errors of several targets.
struct CorrelationFacts {
  std::vector<std::string> targets = {};
  std::vector<std::vector<double>> matrix = {};
  double shrinkage = 0;
  int64_t rows = 0;
};

template <class V>
void describe(CorrelationFacts& f, V& v) {
  v("targets", f.targets, "the targets that are numbers or counts");
  v("matrix", f.matrix, "correlation of the normal scores of their errors, a list for each of them");
  v("shrinkage", f.shrinkage, "share by which it was drawn to 0; 1: they count as independent");
  v("rows", f.rows, "number of held-out rows with two of the targets or more");
}

/// The joint regions of several targets.
struct RegionFacts {
  std::string by = {};
  std::optional<int64_t> rows = {};
  std::optional<double> level = {}, factor = {};
};

template <class V>
void describe(RegionFacts& f, V& v) {
  v("by", f.by, "what they rest on: conformal, the calibration rows, or correlation");
  v("rows", f.rows, "number of calibration rows; of a calibrated model");
  v("level", f.level, "level of the fit");
  v("factor", f.factor, "normal score of each target up to which the region of this level reaches");
}

/// The facts on a file of several targets. Like ModelFacts, they come from a file that is not trusted.
struct JointFacts {
  std::string kind = {}, file = {};
  uint64_t bytes = 0;
  std::map<std::string, int64_t> rows = {};
  CorrelationFacts correlation = {};
  std::optional<RegionFacts> region = {};
  std::vector<ModelFacts> targets = {};
};

template <class V>
void describe(JointFacts& f, V& v) {
  v("kind", f.kind, "joint-model");
  v("file", f.file, "path of the file");
  v("bytes", f.bytes, "its size");
  v("rows", f.rows, "number of rows in each part of the split, which all targets share");
  v("correlation", f.correlation, "the correlation of the errors of numbers and counts");
  v("region", f.region, "their joint regions; of a model with a number or a count");
  v("targets", f.targets, "for each target its name and the facts on its model, as on a file of one target");
}

/// Returns the facts on the contents of a file of several targets, which lies at `path`. Throws DataError if
/// it lacks a model.
JointFacts joint_facts(const TensorFile& file, const std::string& path);

/// Returns the output of `describe FILE` for the facts that joint_facts() read.
std::string joint_text(const JointFacts& facts);

}  // namespace slimbayes::cli
