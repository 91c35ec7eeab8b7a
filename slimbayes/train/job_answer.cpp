#include "slimbayes/train/job_answer.h"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <string>

#include "slimbayes/core/stored.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/checkpoint_reader.h"
#include "slimbayes/train/collective.h"
#include "slimbayes/train/failure.h"

namespace slimbayes {

namespace {

// Metadata keys: how long the job took, and how it failed.
constexpr const char *kSeconds = "job seconds", *kCpu = "job CPU seconds", *kFailure = "job failure";

/// Takes a text out of the metadata.
std::string taken(TensorFile& file, const char* key) {
  std::string text = stored_text(file, key);
  file.metadata.erase(key);
  return text;
}

double taken_number(TensorFile& file, const char* key) {
  return std::strtod(taken(file, key).c_str(), nullptr);
}

}  // namespace

TensorFile finished_file(const JobOutcome<std::any>& outcome, const JobWork<std::any>& work) {
  TensorFile file;
  if (outcome.result) {
    file = work.save(*outcome.result);
  } else {
    file.metadata[kFailure] = failure_of(outcome.thrown).value_or("");
  }
  file.metadata[kSeconds] = fmt::format("{:a}", outcome.seconds);
  return file;
}

JobOutcome<std::any> finished_outcome(size_t job, const TensorFile& file, const std::filesystem::path& path,
                                      const JobWork<std::any>& work) {
  const CheckpointReader read(file, path);
  JobOutcome<std::any> outcome;
  outcome.seconds = read.number(kSeconds);
  if (!(outcome.seconds >= 0 && outcome.seconds < 1e12)) read.refuse("seconds of at least 0", "others");
  read_contents(checkpoint_name(path), kCheckpointHint, [&] {
    if (file.metadata.contains(kFailure))
      outcome.thrown = std::make_exception_ptr(NumericalError(read.text(kFailure)));
    else
      outcome.result = work.load(job, file);
  });
  return outcome;
}

TensorFile answer_file(const JobOutcome<std::any>& outcome, const JobWork<std::any>& work) {
  TensorFile file;
  if (outcome.result) file = work.save(*outcome.result);
  file.metadata[kFailure] = failure_text(outcome.thrown);
  file.metadata[kSeconds] = fmt::format("{:a}", outcome.seconds);
  file.metadata[kCpu] = fmt::format("{:a}", outcome.cpu_seconds);
  return file;
}

JobOutcome<std::any> answered_outcome(size_t job, TensorFile file, const JobWork<std::any>& work) {
  JobOutcome<std::any> outcome;
  outcome.seconds = taken_number(file, kSeconds);
  outcome.cpu_seconds = taken_number(file, kCpu);
  if (const std::string failure = taken(file, kFailure); !failure.empty())
    outcome.thrown = failure_from(failure);
  else
    outcome.result = work.load(job, file);
  return outcome;
}

}  // namespace slimbayes
