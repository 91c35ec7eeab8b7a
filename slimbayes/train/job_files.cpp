#include "slimbayes/train/job_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"
#include "slimbayes/storage/tensor_header.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/checkpoint_reader.h"

namespace slimbayes {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTraining = "training";  // metadata key of the fingerprint of the training alone
constexpr const char* kResults = "results";    // metadata key: whether a job is finished, "0" or "1"
constexpr const char* kFirst = "first";        // metadata key: the record has the result of job 0
constexpr const char* kFinished = "finished job";
constexpr const char* kRepeat = "repeat the first command with `.resume`, or remove the file";

bool is_of_kind(const TensorHeader& header, const std::string& kind) {
  const auto found = header.metadata.find("kind");
  return found != header.metadata.end() && found->second == kind;
}

std::string of_this_fit(const fs::path& path) { return foreign_text(checkpoint_name(path)) + " of this fit"; }

/// For example, the disk is full. The checkpoints of the jobs stay.
std::string not_written(const DataError& error) {
  return fmt::format("{}; the fit goes on and tries again later", error.what());
}

}  // namespace

JobFiles::JobFiles(CheckpointPolicy policy, std::string kind, const Collective* ranks)
    : policy_(std::move(policy)), kind_(std::move(kind)), disk_(ranks) {}

std::string JobFiles::begin() {
  if (!any()) return "";
  if (policy_.resume && disk_.exists(policy_.path)) {
    const TensorFile record = disk_.read(policy_.path);
    const CheckpointReader read(record, policy_.path);
    check(read.text("kind") == kind_, "train", of_this_fit(policy_.path), "one of another kind of fit",
          kRepeat);
    // Without a finished job only the fingerprint of the training must agree: its training may go on even if
    // options that act after the training have changed.
    results_ = read.count(kResults, 0, 1) == 1;
    const bool apart = record.metadata.contains(kTraining);
    check_fingerprint(read.text(!results_ && apart ? kTraining : "fingerprint"),
                      results_ ? policy_.fingerprint : policy_.of_training(), of_this_fit(policy_.path),
                      kRepeat);
    recorded_ = results_;
    if (record.metadata.contains(kFirst)) first_ = record;
  } else if (!policy_.resume && disk_.writes()) {
    remove_checkpoint(policy_.path);
  }
  if (results_) return "";
  try {
    write_record();
  } catch (const DataError& error) {
    return not_written(error);
  }
  return "";
}

std::string JobFiles::begin_after(TensorFile first) {
  if (!any()) return "";
  first_ = std::move(first);
  first_->metadata[kFirst] = "1";
  results_ = true;
  try {
    write_record();  // over the checkpoint of job 0
    recorded_ = true;
    if (disk_.writes()) remove_parts(policy_.path);
  } catch (const DataError& error) {
    return not_written(error);
  }
  return "";
}

CheckpointPolicy JobFiles::part(size_t job) const {
  CheckpointPolicy own = policy_;
  if (!any()) return own;
  own.path += fmt::format(".{}", job);
  own.training = policy_.of_training() + fmt::format(", {} {}", kind_, job);
  own.fingerprint += fmt::format(", {} {}", kind_, job);
  return own;
}

fs::path JobFiles::place(size_t job) const { return job == 0 && first_ ? policy_.path : part(job).path; }

bool JobFiles::is_finished(size_t job) const {
  if (job == 0 && first_) return true;
  if (!any() || !policy_.resume) return false;
  const CheckpointPolicy own = part(job);
  if (!disk_.exists(own.path)) return false;
  const TensorHeader header = disk_.read_header(own.path);
  // A kill in begin_after() leaves parts of the series that made the first result.
  if (const auto print = header.metadata.find("fingerprint"); first_ && print != header.metadata.end() &&
                                                              print->second != own.fingerprint &&
                                                              print->second != own.of_training()) {
    if (disk_.writes()) {
      read_tensor_file(own.path);  // throws for a damaged file, which is not removed
      remove_checkpoint(own.path);
    }
    return false;
  }
  return is_of_kind(header, kFinished);
}

TensorFile JobFiles::result(size_t job) const {
  if (job == 0 && first_) return *first_;
  const CheckpointPolicy own = part(job);
  TensorFile file = disk_.read(own.path);
  const CheckpointReader read(file, own.path);
  if (read.text("fingerprint") != own.fingerprint)
    throw DataError(own.path.string(),
                    fmt::format("expected a result of this fit; received one of another; {}", kRepeat));
  return file;
}

std::string JobFiles::keep(size_t job, TensorFile result) {
  const std::scoped_lock held(lock_);
  unwritten_[job] = std::move(result);
  try {
    results_ = true;
    if (!recorded_) write_record();  // first: what follows must have the whole fingerprint
    recorded_ = true;
    while (!unwritten_.empty()) {
      const auto next = unwritten_.begin();
      write_result(next->first, next->second);
      unwritten_.erase(next);
    }
  } catch (const DataError& error) {
    return not_written(error);
  }
  return "";
}

void JobFiles::write_record() const {
  if (!disk_.writes()) return;
  TensorFile record = first_.value_or(TensorFile{});
  record.metadata["kind"] = kind_;
  record.metadata["fingerprint"] = policy_.fingerprint;
  if (policy_.of_training() != policy_.fingerprint) record.metadata[kTraining] = policy_.of_training();
  record.metadata[kResults] = results_ ? "1" : "0";
  write_tensor_file(policy_.path, record);
}

void JobFiles::write_result(size_t job, const TensorFile& result) const {
  if (!disk_.writes()) return;
  const CheckpointPolicy own = part(job);
  TensorFile file = result;
  file.metadata["kind"] = kFinished;
  file.metadata["fingerprint"] = own.fingerprint;
  write_tensor_file(own.path, file);
  remove_parts(own.path);
}

bool is_record(const CheckpointPolicy& policy, const std::string& kind, const Collective* ranks) {
  const RankFiles disk(ranks);
  return policy.resume && !policy.path.empty() && disk.exists(policy.path) &&
         is_of_kind(disk.read_header(policy.path), kind);
}

}  // namespace slimbayes
