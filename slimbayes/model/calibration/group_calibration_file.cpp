#include "slimbayes/model/calibration/group_calibration_file.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/density/conformal_rank.h"

namespace slimbayes {

namespace {

constexpr const char *kGroups = "calibration.by", *kWeights = "calibration.by_weights",
                     *kFacts = "calibration", *kBy = "by", *kDamaged = "the model file is damaged";

/// Returns the largest level at which so many units of scores have a quantile, u / (u + 1); 0 without units.
double most_level(int64_t units) {
  return std::min(kMostLevel, static_cast<double>(units) / static_cast<double>(units + 1));
}

}  // namespace

void store_groups(const ModelParts& parts, TensorFile& file, nlohmann::json& facts) {
  const GroupCalibration& groups = parts.by_group;
  if (groups.empty()) return;
  nlohmann::json list = nlohmann::json::array();
  for (size_t g = 0; g < groups.cells.size(); ++g) {
    const ConformalScores own = scores_of_group(parts.calibration, groups, static_cast<int64_t>(g));
    const GroupCell& cell = groups.cells[g];
    list.push_back({{"cell", cell ? nlohmann::json(*cell) : nlohmann::json()},
                    {"rows", own.value.size(0)},
                    {"most_level", most_level(own.units())}});
  }
  facts[kBy] = {{"column", parts.fit.calibrate_by}, {"kind", kind_name(parts.by_kind)}, {"groups", list}};
  file.tensors[kGroups] = to_stored(groups.of);
  if (groups.weight.defined()) file.tensors[kWeights] = to_stored(groups.weight);
}

void take_groups(TensorFile& file, ModelParts& parts) {
  const bool calibrated = parts.calibration.groups > 0, named = !parts.fit.calibrate_by.empty();
  const bool stored = file.tensors.contains(kGroups);
  check(stored == (calibrated && named), "load", "calibration groups where the fit names their column, alone",
        stored ? "groups of no column" : "none", kDamaged);
  if (!stored) return;
  const nlohmann::json facts = stored_json(file, kFacts).at(kBy);
  GroupCalibration groups;
  for (const nlohmann::json& one : facts.at("groups")) {
    const nlohmann::json& cell = one.at("cell");
    groups.cells.push_back(cell.is_null() ? GroupCell() : GroupCell(cell.get<std::string>()));
  }
  const bool ascending = std::ranges::adjacent_find(groups.cells, [](const GroupCell& a, const GroupCell& b) {
                           return !(a < b);
                         }) == groups.cells.end();
  check(ascending && !groups.empty(), "load", "different calibration groups in ascending order", "others",
        kDamaged);
  const int64_t m = parts.calibration.value.size(0);
  groups.of = stored_tensor(file, kGroups);
  check(groups.of.scalar_type() == at::kLong, "load", "whole numbers of calibration groups", "others",
        kDamaged);
  check_shape(groups.of, {m}, "load", kGroups);
  const auto found = std::get<0>(at::_unique2(groups.of, true));
  check(at::equal(found, at::arange(std::ssize(groups.cells), at::kLong)), "load",
        "calibration rows in each of the groups, and in no other", "others", kDamaged);
  file.tensors.erase(kGroups);
  parts.by_kind = kind_named(facts.at("kind").get<std::string>());
  const bool weighted = file.tensors.contains(kWeights);
  check(weighted == parts.calibration.weight.defined(), "load", "weights in the groups as among all rows",
        "otherwise", kDamaged);
  if (weighted) {
    groups.weight = stored_tensor(file, kWeights).to(at::kDouble).contiguous();
    file.tensors.erase(kWeights);
    check_shape(groups.weight, {m}, "load", kWeights);
    check_finite(groups.weight, "load", kWeights);
    check((groups.weight > 0).all().item<bool>(), "load", "calibration weights above 0", "others", kDamaged);
    check_calibration_weight({groups.weight.const_data_ptr<double>(), static_cast<size_t>(m)}, "load",
                             kDamaged);
  }
  parts.by_group = std::move(groups);
}

}  // namespace slimbayes
