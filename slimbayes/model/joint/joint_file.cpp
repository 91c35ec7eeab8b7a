// The file of a model of several targets: the files of the models, each under a prefix, and the joint parts.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/answers/joint/region.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/storage/model_kind.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr size_t kMostTargets = 1000;

constexpr const char *kShrinkage = "shrinkage", *kRows = "rows", *kFar = "far", *kHash = "data_hash",
                     *kNotes = "notes";
constexpr const char *kLevel = "level", *kFactor = "factor";  // of the region, for who has no tensors

/// The names of the tensors with the rows of each part of the split of the whole table.
constexpr std::pair<const char*, std::vector<int64_t> SplitRows::*> kParts[] = {
    {"joint.split.train", &SplitRows::train},
    {"joint.split.valid", &SplitRows::valid},
    {"joint.split.calibration", &SplitRows::calibration},
    {"joint.split.test", &SplitRows::test}};

std::vector<int64_t> rows_in(const TensorFile& file, const char* name) {
  const at::Tensor rows = stored_tensor(file, name);
  const bool sane = rows.dim() == 1 && rows.scalar_type() == at::kLong && (rows >= 0).all().item<bool>();
  if (!sane)
    refuse("load", fmt::format("a list of rows, from 0, in {}", name), "others", "the model file is damaged");
  return {rows.const_data_ptr<int64_t>(), rows.const_data_ptr<int64_t>() + rows.numel()};
}

/// Reads R: symmetric, with the diagonal 1 and without an eigenvalue below 0.
at::Tensor correlation_in(const TensorFile& file) {
  at::Tensor r = stored_tensor(file, kJointCorrelation).to(at::kDouble);
  const bool square = r.dim() == 2 && r.size(0) == r.size(1) && r.size(0) <= std::ssize(file.metadata);
  check(square, "load", "a square correlation of the targets", "another shape", "the model file is damaged");
  check_finite(r, "load", kJointCorrelation);
  const bool sane = r.numel() == 0 || (at::equal(r, r.t()) && (r.diagonal() == 1).all().item<bool>() &&
                                       at::linalg_eigvalsh(r, "L").min().item<double>() > 0);
  check(sane, "load", "a positive definite correlation of the targets", "another matrix",
        "the model file is damaged");
  return r;
}

ConformalScores region_in(const TensorFile& file) {
  if (!file.tensors.contains(kRegionScores)) return {};
  const at::Tensor scores = stored_tensor(file, kRegionScores).to(at::kDouble);
  check_shape(scores, {-1}, "load", kRegionScores);
  check_finite(scores, "load", kRegionScores);
  const bool sane =
      scores.numel() > 0 && at::equal(scores, std::get<0>(scores.sort())) && scores[0].item<double>() >= 0;
  check(sane, "load", "scores of the region from 0 in ascending order", "others",
        "the model file is damaged");
  ConformalScores out = file.tensors.contains(kRegionGroups)
                            ? ConformalScores(scores, stored_tensor(file, kRegionGroups).to(at::kLong))
                            : ConformalScores(scores);
  if (!file.tensors.contains(kRegionWeights)) return out;
  out.weight = stored_tensor(file, kRegionWeights).to(at::kDouble).contiguous();
  check_shape(out.weight, {scores.numel()}, "load", kRegionWeights);
  check_finite(out.weight, "load", kRegionWeights);
  check((out.weight > 0).all().item<bool>(), "load", "weights of the region above 0", "others",
        "the model file is damaged");
  check_calibration_weight({out.weight.const_data_ptr<double>(), static_cast<size_t>(out.weight.numel())},
                           "load", "the model file is damaged");
  return out;
}

/// Reads the facts under kJointFacts.
void read_facts(const TensorFile& file, JointParts& parts) {
  const nlohmann::json facts = stored_json(file, kJointFacts);
  const auto number = [&](const char* key) {
    const nlohmann::json one = facts.is_object() ? facts.value(key, nlohmann::json()) : nlohmann::json();
    check(one.is_number() && one >= 0 && one <= 1e15, "load", "the numbers of the joint model", "others",
          "the model file is damaged");
    return one;
  };
  parts.correlation.shrinkage = number(kShrinkage).get<double>();
  parts.correlation.rows = number(kRows).get<int64_t>();
  parts.correlation.far = number(kFar).get<int64_t>();
  parts.data_hash = facts.at(kHash).get<std::string>();
  parts.split.notes = facts.at(kNotes).get<std::vector<std::string>>();
}

/// Returns the level of the fit and the factor of the region at it, for `describe`; nothing without a region
/// of this level.
nlohmann::json region_facts(const JointModel& model) {
  const double level = model.models().front().fit_options().level;
  const ConformalScores& scores = model.parts().region;
  if (model.scored().empty()) return nlohmann::json::object();
  if (scores.groups == 0)
    return {{kLevel, level}, {kFactor, region_factor(model.correlation().matrix, level)}};
  if (conformal_rank(scores.units(), level) > scores.units()) return nlohmann::json::object();
  return {{kLevel, level}, {kFactor, conformal_factor(scores, level)}};
}

}  // namespace

TensorFile JointModel::to_file() const {
  TensorFile file;
  for (size_t t = 0; t < parts_.models.size(); ++t) {
    TensorFile part = parts_.models[t].to_file();
    for (auto& [key, text] : part.metadata) file.metadata[prefix_of_target(t) + key] = std::move(text);
    for (auto& [name, tensor] : part.tensors) file.tensors[prefix_of_target(t) + name] = std::move(tensor);
  }
  file.metadata["kind"] = kJointKind;
  file.metadata[kJointTargets] = nlohmann::json(targets()).dump();
  nlohmann::json facts = {{kShrinkage, parts_.correlation.shrinkage},
                          {kRows, parts_.correlation.rows},
                          {kFar, parts_.correlation.far},
                          {kHash, parts_.data_hash},
                          {kNotes, parts_.split.notes}};
  facts.update(region_facts(*this));
  file.metadata[kJointFacts] = facts.dump();
  file.tensors[kJointCorrelation] = to_stored(parts_.correlation.matrix);
  for (const auto& [name, rows] : kParts)
    file.tensors[name] = to_stored(at::tensor(parts_.split.*rows, at::kLong));
  if (parts_.region.groups > 0) {
    file.tensors[kRegionScores] = to_stored(parts_.region.value);
    if (parts_.region.groups < parts_.region.value.size(0))
      file.tensors[kRegionGroups] = to_stored(parts_.region.group);
    if (parts_.region.weight.defined()) file.tensors[kRegionWeights] = to_stored(parts_.region.weight);
  }
  return file;
}

JointModel JointModel::from_file(const TensorFile& file, const std::string& name) {
  if (!is_joint(file)) {
    check_model_kind(file, name);
    throw DataError(name,
                    "expected a model of several targets; received another file of slimbayes; "
                    "Model::load reads a model of one target");
  }
  std::optional<JointModel> model;
  read_contents(name, "fit it again", [&] {
    const auto names = stored_json(file, kJointTargets).get<std::vector<std::string>>();
    check(names.size() > 1 && names.size() <= kMostTargets, "load", "several targets", "another number",
          "the model file is damaged");
    JointParts parts;
    for (size_t t = 0; t < names.size(); ++t) {
      parts.models.push_back(Model::from_file(file_of_target(file, t), name));
      check(parts.models.back().target() == names[t], "load", "the model of each target", "another",
            "the model file is damaged");
    }
    read_facts(file, parts);
    parts.correlation.matrix = correlation_in(file);
    parts.region = region_in(file);
    for (const auto& [tensor, rows] : kParts) parts.split.*rows = rows_in(file, tensor);
    model.emplace(std::move(parts));
  });
  return *std::move(model);
}

JointModel JointModel::load(const std::filesystem::path& path) {
  return from_file(read_tensor_file(path), path.string());
}

void JointModel::save(const std::filesystem::path& path) const { write_tensor_file(path, to_file()); }

}  // namespace slimbayes
