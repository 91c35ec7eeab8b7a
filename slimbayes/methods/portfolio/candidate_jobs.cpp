#include "slimbayes/methods/portfolio/candidate_jobs.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>

#include "slimbayes/method/registry.h"
#include "slimbayes/train/until_deadline.h"

namespace slimbayes {

namespace {

std::shared_ptr<const Fitted> fit_of(const Candidate& candidate, const Split& rows, size_t k,
                                     const FitContext& context, const JobContext& job) {
  const Stream stream = context.stream.split(candidate.method).split(static_cast<uint64_t>(k));
  FitContext own = part_of(context, stream, job);
  own.start = nullptr;
  const double seconds =
      job.until ? std::chrono::duration<double>(*job.until - std::chrono::steady_clock::now()).count()
                : std::numeric_limits<double>::infinity();
  UntilDeadline callback(job.callback, seconds);
  own.callback = &callback;
  return registry_row(candidate.method).make(candidate.options)->fit(rows, own);
}

}  // namespace

size_t job_of(const TriedCandidate& tried, size_t k) { return tried.number * kMostFits + k; }

MemberView view_of(const Candidate& candidate, const Dataset& rows) {
  return fitted_view(rows, find_method(candidate.method).input_scale == "min-max", candidate.warp);
}

FitJobs candidate_jobs(const std::vector<Candidate>& candidates, const SearchRows& rows,
                       const FitContext& context) {
  const auto of = [&candidates](size_t job) -> const Candidate& { return candidates.at(job / kMostFits); };
  const auto split = [of, &rows](size_t job) {
    TriedCandidate seen;
    seen.candidate = of(job);
    seen.view = view_of(seen.candidate, rows.all);
    return rows_of_fit(seen, rows, job % kMostFits);
  };
  return {plan_of(context, "auto",
                  [of, &rows](size_t job) {
                    return fmt::format("{} {}/{}", of(job).label(), job % kMostFits + 1,
                                       all_fits(of(job), rows));
                  }),
          fit_work(
              [=, &context](size_t job, const JobContext& given) {
                return fit_of(of(job), split(job), job % kMostFits, context, given);
              },
              [of](size_t job) -> const RegistryRow& { return registry_row(of(job).method); },
              [split](size_t job) { return split(job).train; })};
}

}  // namespace slimbayes
