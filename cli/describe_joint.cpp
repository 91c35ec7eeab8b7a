// The output of `describe` for a file of several targets. The file is not trusted: any entry may be missing
// or have an unexpected type, and is then left out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/describe_text.h"
#include "cli/terminal.h"
#include "slimbayes/storage/contents.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/model_kind.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kSplit = "joint.split.";  // start of the names of the lists of rows
constexpr int64_t kMostShown = 1000;                 // rows of a matrix

/// Returns the rows of the correlation matrix; none if the file holds no square matrix of doubles.
std::vector<std::vector<double>> matrix_in(const TensorFile& file) {
  const auto found = file.tensors.find(kJointCorrelation);
  if (found == file.tensors.end()) return {};
  const StoredTensor& stored = found->second;
  const bool square = stored.type == StoredType::f64 && stored.shape.size() == 2 &&
                      stored.shape[0] == stored.shape[1] && stored.shape[0] <= kMostShown;
  if (!square) return {};
  const auto k = static_cast<size_t>(stored.shape[0]);
  std::vector<std::vector<double>> rows(k, std::vector<double>(k));
  for (size_t i = 0; i < k; ++i)
    std::memcpy(rows[i].data(), stored.bytes.data() + i * k * sizeof(double), k * sizeof(double));
  return rows;
}

/// Returns whether the model's target is a number or a count: it has no classes.
bool is_scored(const ModelFacts& model) {
  const json encoder = model.metadata.value("encoder", json());
  const json levels = encoder.is_object() ? encoder.value("levels", json()) : json();
  return !levels.is_array() || levels.empty();
}

std::optional<RegionFacts> region_in(const TensorFile& file, const json& facts) {
  const auto factor = facts.find("factor"), level = facts.find("level");
  const auto scores = file.tensors.find(kRegionScores);
  const bool conformal = scores != file.tensors.end();
  if (!conformal && factor == facts.end()) return std::nullopt;
  RegionFacts region{.by = conformal ? "conformal" : "correlation"};
  if (conformal && scores->second.shape.size() == 1) region.rows = scores->second.shape[0];
  if (level != facts.end() && level->is_number()) region.level = level->get<double>();
  if (factor != facts.end() && factor->is_number()) region.factor = factor->get<double>();
  return region;
}

/// Returns lines of cells, the first column aligned left and the others right.
std::string aligned_lines(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - display_width(row[i]), ' ');
      line += "  " + (i == 0 ? row[i] + blanks : blanks + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string targets_text(const std::vector<ModelFacts>& targets) {
  std::vector<std::vector<std::string>> rows = {{"target", "method", "likelihood", "rows", "parameters"}};
  for (const ModelFacts& one : targets) {
    const json encoder = one.metadata.value("encoder", json());
    const json likelihood = encoder.is_object() ? encoder.value("likelihood", json()) : json();
    const auto train = one.file.rows.find("train");
    rows.push_back({plain(one.metadata.value("target", json())), plain(one.metadata.value("method", json())),
                    likelihood.is_null() ? "" : plain(likelihood),
                    train == one.file.rows.end() ? "" : fmt::format("{}", train->second),
                    fmt::format("{}", one.file.parameters)});
  }
  return "\n" + aligned_lines(rows);
}

/// Returns the correlation as a table of numbers with two decimals.
std::string correlation_text(const CorrelationFacts& facts) {
  if (facts.targets.size() < 2) return "";
  std::vector<std::vector<std::string>> rows = {{""}};
  for (size_t i = 0; i < facts.targets.size(); ++i) {
    rows[0].push_back(shown(facts.targets[i]));
    rows.push_back({shown(facts.targets[i])});
    for (const double x : facts.matrix[i])
      rows.back().push_back(fmt::format("{:.2f}", std::abs(x) < 0.005 ? 0.0 : x));
  }
  return fmt::format("\ncorrelation of errors, of {} held-out rows, drawn to 0 by {:.0f} %\n", facts.rows,
                     100 * facts.shrinkage) +
         aligned_lines(rows);
}

std::string region_line(const RegionFacts& region) {
  std::string text = "\njoint regions, by ";
  text += region.rows ? fmt::format("{} calibration rows", *region.rows) : "the correlation";
  if (region.level && region.factor)
    text += fmt::format(": to the normal scores ±{:#.4g} of each target at {:g} %", *region.factor,
                        100 * *region.level);
  return text + "\n";
}

}  // namespace

JointFacts joint_facts(const TensorFile& file, const std::string& path) {
  JointFacts all{.kind = kJointKind, .file = path};
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  all.bytes = failed ? 0 : bytes;
  const json names = stored_json(file, kJointTargets), facts = stored_json(file, kJointFacts);
  if (!names.is_array() || names.size() > static_cast<size_t>(kMostShown) || !facts.is_object())
    throw DataError(path, "expected the names of several targets; received others; fit it again");
  for (size_t t = 0; t < names.size(); ++t) {
    const TensorFile part = file_of_target(file, t);
    ModelFacts one = model_facts(part, path);
    one.metadata["target"] = names[t];
    one.file.bytes = 0;
    for (const auto& [name, tensor] : part.tensors) one.file.bytes += tensor.bytes.size();
    if (names[t].is_string() && is_scored(one))
      all.correlation.targets.push_back(names[t].get<std::string>());
    all.targets.push_back(std::move(one));
  }
  all.correlation.matrix = matrix_in(file);
  if (all.correlation.matrix.size() != all.correlation.targets.size()) all.correlation = {};
  if (const auto found = facts.find("shrinkage"); found != facts.end() && found->is_number())
    all.correlation.shrinkage = found->get<double>();
  if (const auto found = facts.find("rows"); found != facts.end() && found->is_number_integer())
    all.correlation.rows = found->get<int64_t>();
  all.region = region_in(file, facts);
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(kSplit) && tensor.shape.size() == 1)
      all.rows[name.substr(kSplit.size())] = tensor.shape[0];
  return all;
}

std::string joint_text(const JointFacts& facts) {
  std::string text = fmt::format("{}\n  kind         {}\n  targets      {}\n  file size    {} bytes\n",
                                 shown(facts.file), facts.kind, facts.targets.size(), facts.bytes);
  text += targets_text(facts.targets) + correlation_text(facts.correlation);
  if (facts.region) text += region_line(*facts.region);
  text += "\nrows\n";
  for (const auto& [part, rows] : facts.rows) text += fmt::format("  {:<18} {}\n", shown(part), rows);
  return text + "\n--json has the columns, the options and the summary of each target\n";
}

}  // namespace slimbayes::cli
