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

/// Returns the facts on a model file. Throws DataError for a file that is not a model.
ModelFacts model_facts(const std::string& path);

/// Returns the output of `describe FILE` for the facts that model_facts() read.
std::string model_text(const ModelFacts& facts);

}  // namespace slimbayes::cli
