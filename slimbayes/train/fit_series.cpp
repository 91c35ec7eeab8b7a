#include "slimbayes/train/fit_series.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/core/stored.h"

namespace slimbayes {

namespace {

namespace fs = std::filesystem;

/// Whether `name` is `stem` followed by numbers: "m.ckpt.3", "m.ckpt.3.1" of "m.ckpt".
bool is_part(const std::string& name, const std::string& stem) {
  return name.size() > stem.size() + 1 && name.starts_with(stem + ".") &&
         name.find_first_not_of("0123456789.", stem.size()) == std::string::npos;
}

void remove_parts(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<fs::path> parts;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (is_part(entry.path().filename().string(), path.filename().string())) parts.push_back(entry.path());
  }
  for (const fs::path& part : parts) fs::remove(part, failed);
}

}  // namespace

FitSeries::FitSeries(CheckpointPolicy policy, std::string kind)
    : policy_(std::move(policy)), kind_(std::move(kind)), exceptions_(std::uncaught_exceptions()) {}

FitSeries::~FitSeries() {
  const bool failed = std::uncaught_exceptions() > exceptions_;
  if (failed && !policy_.resume && !policy_.path.empty()) remove_parts(policy_.path);
}

std::optional<TensorFile> FitSeries::start() const {
  if (policy_.path.empty()) return std::nullopt;
  if (policy_.resume && fs::exists(policy_.path)) {
    TensorFile record = read_tensor_file(policy_.path);
    check(stored_text(record, "kind") == kind_ && stored_text(record, "fingerprint") == policy_.fingerprint,
          "train", fmt::format("the checkpoint '{}' of this fit", policy_.path.string()),
          "one of other data, options, seed or threads",
          "repeat the first command with --resume, or remove the file");
    return record;
  }
  if (!policy_.resume) remove_parts(policy_.path);
  keep({}, 0);
  return std::nullopt;
}

CheckpointPolicy FitSeries::part(int64_t i) const {
  CheckpointPolicy part = policy_;
  if (policy_.path.empty()) return part;
  part.path += fmt::format(".{}", i);
  part.fingerprint += fmt::format(", {} {}", kind_, i);
  return part;
}

void FitSeries::keep(TensorFile record, int64_t done) const {
  if (policy_.path.empty()) return;
  record.metadata["kind"] = kind_;
  record.metadata["fingerprint"] = policy_.fingerprint;
  record.metadata["done"] = std::to_string(done);
  write_tensor_file(policy_.path, record);
  for (int64_t i = 0; i < done; ++i) {
    std::error_code ignored;
    fs::remove(part(i).path, ignored);
    remove_parts(part(i).path);
  }
}

}  // namespace slimbayes
