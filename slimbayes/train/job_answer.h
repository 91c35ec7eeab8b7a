#pragma once

#include <any>
#include <cstddef>
#include <filesystem>

#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

/// Returns the contents of a finished job's file: what `save` makes of its result, or the message of its
/// failure (failure_of), and how long it took.
TensorFile finished_file(const JobOutcome<std::any>& outcome, const JobWork<std::any>& work);

/// Returns the outcome that a finished_file() tells of, read from `path`. Throws DataError if it is damaged.
JobOutcome<std::any> finished_outcome(size_t job, const TensorFile& file, const std::filesystem::path& path,
                                      const JobWork<std::any>& work);

/// Returns the outcome of a job as a file for rank 0 (job_ranks.h), and the outcome of such a file.
TensorFile answer_file(const JobOutcome<std::any>& outcome, const JobWork<std::any>& work);
JobOutcome<std::any> answered_outcome(size_t job, TensorFile file, const JobWork<std::any>& work);

}  // namespace slimbayes
