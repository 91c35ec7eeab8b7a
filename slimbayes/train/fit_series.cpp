#include "slimbayes/train/fit_series.h"

#include <fmt/format.h>

#include <filesystem>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/checkpoint_reader.h"

namespace slimbayes {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTraining = "training";  // metadata key of the fingerprint of the training alone

}  // namespace

FitSeries::FitSeries(CheckpointPolicy policy, std::string kind, Callback* callback)
    : policy_(std::move(policy)), kind_(std::move(kind)), callback_(callback) {}

std::optional<TensorFile> FitSeries::start(int64_t fits) const {
  if (policy_.path.empty()) return std::nullopt;
  std::error_code absent;
  if (policy_.resume && fs::exists(policy_.path, absent)) {
    TensorFile record = read_tensor_file(policy_.path);
    const std::string what = fmt::format("{} of this fit", name());
    const std::string hint = "repeat the first command with --resume, or remove the file";
    const CheckpointReader read(record, policy_.path);
    check(read.text("kind") == kind_, "train", what, "one of another kind of fit", hint);
    // A record without a finished fit holds no results. So only the fingerprint of the training must agree:
    // the first fit may go on even if options that act after the training have changed.
    const bool empty = read.count("done", 0, fits) == 0;
    const bool apart = record.metadata.contains(kTraining);
    check_fingerprint(read.text(empty && apart ? kTraining : "fingerprint"),
                      empty ? policy_.of_training() : policy_.fingerprint, what, hint);
    if (empty) keep({}, 0);
    return record;
  }
  if (!policy_.resume) remove_checkpoint(policy_.path);
  keep({}, 0);
  return std::nullopt;
}

bool FitSeries::recorded() const {
  std::error_code absent;
  if (!policy_.resume || policy_.path.empty() || !fs::exists(policy_.path, absent)) return false;
  const TensorFile file = read_tensor_file(policy_.path);
  const auto kind = file.metadata.find("kind");
  return kind != file.metadata.end() && kind->second == kind_;
}

std::string FitSeries::name() const { return checkpoint_name(policy_.path); }

CheckpointPolicy FitSeries::part(int64_t i) const {
  CheckpointPolicy part = policy_;
  if (policy_.path.empty()) return part;
  part.path += fmt::format(".{}", i);
  part.training = policy_.of_training() + fmt::format(", {} {}", kind_, i);
  part.fingerprint += fmt::format(", {} {}", kind_, i);
  return part;
}

void FitSeries::keep(TensorFile record, int64_t done) const {
  if (policy_.path.empty()) return;
  record.metadata["kind"] = kind_;
  record.metadata["fingerprint"] = policy_.fingerprint;
  if (policy_.of_training() != policy_.fingerprint) record.metadata[kTraining] = policy_.of_training();
  record.metadata["done"] = std::to_string(done);
  try {
    write_tensor_file(policy_.path, record);
  } catch (const DataError& error) {
    // For example, the disk is full. The parts' checkpoints stay, because nothing else holds their results.
    if (callback_) callback_->note(fmt::format("{}; the fit goes on and tries again later", error.what()));
    return;
  }
  for (int64_t i = 0; i < done; ++i) remove_checkpoint(part(i).path);
}

}  // namespace slimbayes
