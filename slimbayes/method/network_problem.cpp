#include "slimbayes/method/network_problem.h"

#include "slimbayes/encoding/task.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

TrainProblem network_problem(const Parameters& parameters, const std::map<std::string, GroupRate>& rates,
                             const Dataset& rows, const TrainingOptions& training, const Collective* ranks,
                             std::string_view metric) {
  TrainProblem problem;
  problem.groups = parameter_groups(parameters, rates);
  if (parameters.has(kBuffers)) problem.buffers = problem.batch_buffers = {parameters.values(kBuffers)};
  problem.ranks = ranks;
  problem.source = rows.source;
  problem.plan = batch_plan(rows, training);
  problem.rows = rows.size();
  problem.score = score_name(rows.schema.task, metric);
  return problem;
}

}  // namespace slimbayes
