#include "slimbayes/storage/model_kind.h"

#include <fmt/format.h>

#include "slimbayes/storage/error.h"

namespace slimbayes {

bool is_joint(const TensorFile& file) {
  const auto kind = file.metadata.find("kind");
  return kind != file.metadata.end() && kind->second == kJointKind;
}

std::string prefix_of_target(size_t target) { return fmt::format("target.{}.", target + 1); }

TensorFile file_of_target(const TensorFile& file, size_t target) {
  const std::string prefix = prefix_of_target(target);
  TensorFile part;
  for (auto one = file.metadata.lower_bound(prefix);
       one != file.metadata.end() && one->first.starts_with(prefix); ++one)
    part.metadata.emplace(one->first.substr(prefix.size()), one->second);
  for (auto one = file.tensors.lower_bound(prefix);
       one != file.tensors.end() && one->first.starts_with(prefix); ++one)
    part.tensors.emplace(one->first.substr(prefix.size()), one->second);
  return part;
}

void check_model_kind(const TensorFile& file, const std::string& name) {
  if (is_joint(file))
    throw DataError(name,
                    "expected a model of one target; received one of several, which predict, evaluate and "
                    "describe read, and JointModel::load in C++; for other uses fit one target alone");
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
