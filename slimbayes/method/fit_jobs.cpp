#include "slimbayes/method/fit_jobs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slimbayes/method/finished_fit.h"

namespace slimbayes {

JobPlan plan_of(const FitContext& context, std::string kind, std::function<std::string(size_t job)> title) {
  return {context.checkpoint, std::move(kind), context.callback, context.workers,
          std::move(title),   context.ranks,   context.job_ranks};
}

FitContext part_of(const FitContext& whole, const Stream& stream, const JobContext& job) {
  FitContext part = part_of(whole, stream, job.checkpoint);
  part.callback = job.callback;
  part.workers = job.workers;
  return part;
}

JobWork<std::shared_ptr<const Fitted>> fit_work(
    std::function<std::shared_ptr<const Fitted>(size_t job, const JobContext&)> run,
    std::function<const RegistryRow&(size_t job)> row, std::function<Dataset(size_t job)> train) {
  return {std::move(run), [](const std::shared_ptr<const Fitted>& fitted) { return fitted->save(); },
          [row = std::move(row), train = std::move(train)](size_t job, const TensorFile& file) {
            return std::shared_ptr<const Fitted>(finished_fit(row(job), file, train(job)));
          },
          [](const std::shared_ptr<const Fitted>& fitted) { return is_whole(*fitted); }};
}

FitSize size_of(const Dataset& train) {
  const Task& task = train.schema.task;
  const bool classes = task.kind == TaskKind::classification;
  return {train.size(), train.schema.input, train.schema.tokens,
          classes ? std::max<int64_t>(2, task.outputs) : 1};
}

int workers_in_memory(int workers, const FitSize& size, double bytes, uint64_t at_hand) {
  constexpr double kCopies = 2, kOfCell = 8, kOfAll = 0.8;  // the rest is for the caller
  double cells = static_cast<double>(size.rows);
  for (const int64_t side : size.input.sizes) cells *= static_cast<double>(std::max<int64_t>(side, 1));
  const double each = std::max(kCopies * kOfCell * cells + bytes, 1.0);
  const double most = kOfAll * static_cast<double>(at_hand) / each;
  return most < workers ? std::max(1, static_cast<int>(most)) : workers;
}

double most_bytes(const FitSize& size, const std::vector<MethodChoice>& fits) {
  double bytes = 0;
  for (const MethodChoice& fit : fits)
    if (const auto& cost = find_method(fit.method).cost)
      bytes = std::max(bytes, cost(size, fit.options).bytes);
  return bytes;
}

int workers_at_hand(int workers, const FitSize& size, const std::vector<MethodChoice>& fits,
                    Callback* callback, uint64_t at_hand) {
  const int fitting = workers_in_memory(workers, size, most_bytes(size, fits), at_hand);
  if (fitting < workers && callback != nullptr)
    callback->note(fmt::format("{} fits beside each other instead of {}: {} of memory are at hand", fitting,
                               workers, bytes_text(at_hand)));
  return fitting;
}

FitContext within_memory(FitContext context, const Dataset& train, const std::vector<MethodChoice>& fits) {
  if (context.workers > 1)
    context.workers = workers_at_hand(context.workers, size_of(train), fits, context.callback);
  return context;
}

bool is_whole(const Fitted& fitted) { return fitted.summary().stopped != Stopped::interrupted; }

bool is_stopped(const FitContext& context) {
  const bool own = context.callback != nullptr && context.callback->stop();
  if (context.ranks == nullptr) return own;
  const at::Tensor any = at::full({1}, own ? 1 : 0, at::kLong);
  context.ranks->sum(any);
  const bool stopped = any.item<int64_t>() > 0;
  if (stopped && context.callback != nullptr) context.callback->follow(Stopped::interrupted);
  return stopped;
}

}  // namespace slimbayes
