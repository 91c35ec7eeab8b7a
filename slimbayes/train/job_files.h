#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/rank_files.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// The files of a series of jobs (jobs.h). The file `path` of the policy is the record: the kind of the
/// series, the fingerprint and, after begin_after(), the result of job 0. The file `path`.<job> is the
/// checkpoint of a running job or the result of a finished one. If the path is empty, nothing is written.
/// Safe to share between threads after begin().
class JobFiles {
 public:
  /// Rank 0 of `ranks` reads and writes the files for all of them (rank_files.h); nullptr: this process
  /// alone.
  JobFiles(CheckpointPolicy policy, std::string kind, const Collective* ranks = nullptr);

  /// See Jobs::begin and Jobs::begin_after. They return a note if a file cannot be written, else "".
  std::string begin();
  std::string begin_after(TensorFile first);

  /// Returns whether files are written.
  bool any() const { return !policy_.path.empty(); }

  /// Returns the checkpoint policy of a job: its file, and a fingerprint that names the job.
  CheckpointPolicy part(size_t job) const;

  /// Returns the file that holds the result of a finished job.
  std::filesystem::path place(size_t job) const;

  /// Returns whether an earlier run has finished the job, by the header of its file: result() finds out
  /// whether the rest is damaged. Throws DataError for a damaged header.
  bool is_finished(size_t job) const;

  /// Returns the result of a job that an earlier run has finished. Throws DataError if it belongs to another
  /// fit or the file is damaged.
  TensorFile result(size_t job) const;

  /// Writes the result of a job over its checkpoint, and results that could not be written before. Returns a
  /// note if that fails, else "".
  std::string keep(size_t job, TensorFile result);

 private:
  void write_record() const;
  void write_result(size_t job, const TensorFile& result) const;

  const CheckpointPolicy policy_;
  const std::string kind_;
  const RankFiles disk_;
  std::optional<TensorFile> first_;  // see begin_after

  std::mutex lock_;        // of what follows
  bool results_ = false;   // a job is finished
  bool recorded_ = false;  // the record says so
  std::map<size_t, TensorFile> unwritten_;
};

/// Returns whether the checkpoint to resume from is the record of a series of this kind. False if
/// policy.resume is false or there is no file. `ranks` as in JobFiles.
bool is_record(const CheckpointPolicy& policy, const std::string& kind, const Collective* ranks = nullptr);

}  // namespace slimbayes
