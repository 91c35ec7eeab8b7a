#include "slimbayes/method/predict_options.h"

#include <algorithm>

namespace slimbayes {

PredictOptions PredictOptions::with_batch_at_most(int64_t rows) const {
  PredictOptions smaller = *this;
  smaller.batch = std::min(batch, rows);
  return smaller;
}

PredictOptions PredictOptions::on_host() const {
  PredictOptions host = *this;
  host.device = at::kCPU;
  return host;
}

PredictOptions PredictOptions::within(double from, double to) const {
  PredictOptions part = *this;
  if (progress)
    part.progress = [whole = progress, from, to](double share) { whole(from + (to - from) * share); };
  return part;
}

}  // namespace slimbayes
