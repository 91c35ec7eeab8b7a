// What several processes share of a fit (ResolvedFit::ranks).
#include <fmt/format.h>

#include <limits>
#include <string>

#include "slimbayes/core/check.h"
#include "slimbayes/fit/resolved_fit.h"

namespace slimbayes {

namespace {

/// Returns the number of parts that could be jobs, 1 if the fit is one training. A search has many.
int64_t parts_of(const ResolvedFit& request) {
  if (!request.fit.tune.empty() || request.method->name == "auto") return std::numeric_limits<int64_t>::max();
  return request.method->name == "ensemble" ? request.options.at("members").get<int64_t>() : 1;
}

void check_rows(const ResolvedFit& request) {
  const std::string& method = request.method->name;
  if (method == "auto")
    refuse("ranks", "a method whose rows several processes can share", method,
           "let them share its fits (`.parallel=jobs`), or name a method with `.method`, such as dbk or dnn");
  check(request.fit.tune.empty(), "ranks", "a fit without a search of its options", "one with `.tune`",
        "let the processes share its fits (`.parallel=jobs`)");
  check(!(request.options.value("time_limit", 0.0) > 0), "ranks",
        "a budget in steps where processes share the rows", "a time limit",
        "give `.steps` in the place of `.time_limit`");
}

}  // namespace

Parallel shared_by_ranks(const ResolvedFit& request) {
  const int64_t parts = parts_of(request);
  const bool jobs = request.parallel == Parallel::jobs ||
                    (request.parallel == Parallel::by_size && parts >= request.ranks->size());
  if (!jobs) {
    check_rows(request);
    return Parallel::rows;
  }
  if (parts == 1)
    refuse("ranks", "a fit of several parts, such as that of auto or ensemble or a search of options",
           request.method->name, "let the processes share its rows (`.parallel=rows`)");
  return Parallel::jobs;
}

}  // namespace slimbayes
