#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_cost.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/method/method.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/storage/memory.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

/// Jobs whose results are fitted methods.
using FitJobs = Jobs<std::shared_ptr<const Fitted>>;

/// Returns the plan of the jobs of a fit: its checkpoint, callback and workers.
JobPlan plan_of(const FitContext& context, std::string kind, std::function<std::string(size_t job)> title);

/// Returns the context of a job: that of the whole fit with the job's stream, checkpoint and callback.
FitContext part_of(const FitContext& whole, const Stream& stream, const JobContext& job);

/// Returns the work of jobs, each of which fits a method. `run` makes the fit of a job. `row` returns the
/// registry's entry of its method, which also reads the fit from a checkpoint (finished_fit). `train` returns
/// rows of the same schema as those of the fit.
JobWork<std::shared_ptr<const Fitted>> fit_work(
    std::function<std::shared_ptr<const Fitted>(size_t job, const JobContext&)> run,
    std::function<const RegistryRow&(size_t job)> row, std::function<Dataset(size_t job)> train);

/// Returns the size of a fit to these rows, for MethodInfo::cost.
FitSize size_of(const Dataset& train);

/// Returns how many of `workers` fits may run at the same time in `at_hand` bytes of memory, at least one. A
/// fit takes `bytes` (FitCost::bytes) and two copies of its rows.
int workers_in_memory(int workers, const FitSize& size, double bytes, uint64_t at_hand);

/// Returns the most memory (FitCost::bytes) that one of these fits to so many rows takes.
double most_bytes(const FitSize& size, const std::vector<MethodChoice>& fits);

/// Returns how many of `workers` fits of these methods to so many rows may run beside each other in `at_hand`
/// bytes. The callback, if any, gets a note if they are fewer.
int workers_at_hand(int workers, const FitSize& size, const std::vector<MethodChoice>& fits,
                    Callback* callback, uint64_t at_hand = memory_at_hand());

/// Returns the context with as many workers as the memory at hand allows for fits of these methods to rows
/// like `train`. The callback gets a note if these are fewer.
FitContext within_memory(FitContext context, const Dataset& train, const std::vector<MethodChoice>& fits);

/// Returns whether the fit ran to its end (JobWork::whole).
bool is_whole(const Fitted& fitted);

/// Returns whether the caller has stopped the fit, on any of its ranks: all of them must ask.
bool is_stopped(const FitContext& context);

}  // namespace slimbayes
