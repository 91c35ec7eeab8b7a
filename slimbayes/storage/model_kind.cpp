#include "slimbayes/storage/model_kind.h"

#include <fmt/format.h>

#include "slimbayes/storage/error.h"

namespace slimbayes {

bool is_joint(const TensorFile& file) {
  const auto kind = file.metadata.find("kind");
  return kind != file.metadata.end() && kind->second == kJointKind;
}

void check_model_kind(const TensorFile& file, const std::string& name) {
  if (is_joint(file))
    throw DataError(name,
                    "expected a model of one target; received one of several; in C++ JointModel::load "
                    "reads it");
  const auto has = [&](const char* key) { return file.metadata.contains(key); };
  if (has("kind")) return;
  const std::string expected = "expected a model of slimbayes fit, which knows the columns of its data";
  if (!has("summary")) throw DataError(name, expected + "; received another tensor file; check the path");
  throw DataError(name,
                  fmt::format("{}; received a posterior{}, without columns; "
                              "registry_row(METHOD).load reads it in C++ (examples/own_network.cpp)",
                              expected, has("module_layer") ? " around a module of somebody's own" : ""));
}

}  // namespace slimbayes
