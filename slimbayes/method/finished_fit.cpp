#include "slimbayes/method/finished_fit.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/check.h"
#include "slimbayes/data/answer_to.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

std::unique_ptr<Fitted> finished_fit(const RegistryRow& method, const TensorFile& file,
                                     const Dataset& train) {
  std::unique_ptr<Fitted> fitted = method.load(file);
  const Dataset rows = rows_at_hand(train);
  const Dataset row = rows.subset(at::arange(std::min<int64_t>(1, rows.size())));
  check(is_answer_to(fitted->predict(row), train.schema.task), "resume", "a fit of this task", "of another");
  return fitted;
}

}  // namespace slimbayes
