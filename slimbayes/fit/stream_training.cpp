#include "slimbayes/fit/stream_training.h"

#include <algorithm>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes {

namespace {

void check_streamed(const FitOptions& o) {
  const auto alone = [](bool fits, const char* received) {
    check(fits, "fit", "the rows of a table with a target, for `.cache`", received,
          "leave `.cache` out: such data are read into memory");
  };
  alone(input_kind(o) == InputKind::table, "another kind of input");
  alone(o.likelihood != LikelihoodKind::cox && !o.target.empty(), "rows without a target");
  alone(o.network_from.empty(), "`.network_from`, whose rows must be those of that model");
  alone(o.test_folds == 0, "folds");
  alone(o.scale_on == "train", "`.scale_on=all`, for the held-out rows");
  check(o.split == "auto" || o.split == "grouped" || o.split == "random", "fit",
        "a split 'auto', 'grouped' or 'random'", o.split);
}

}  // namespace

std::shared_ptr<const StreamedRows> stream_training(const StreamedFiles& given, FitOptions& o,
                                                    const StreamedRows::Progress& progress) {
  check_streamed(o);
  check_fractions(o);
  check(given.cache.window > 0, "fit", "at least one row for `.shuffle_rows`", "none");
  StreamOptions options{.target = o.target,
                        .not_inputs = perhaps_named(o.ignore),
                        .test = o.test_fraction,
                        .calibration = o.calibrate == "none" ? 0 : o.calibration_fraction,
                        .valid = given.own_valid ? 0 : o.valid_fraction,
                        .by_inputs = o.split != "random",
                        .seed = o.split_seed};
  // Four parts, and what encoding them takes.
  const uint64_t memory = given.limits.memory > 0 ? given.limits.memory : memory_at_hand();
  options.most_bytes = std::clamp<uint64_t>(memory / 32, uint64_t{1} << 16, uint64_t{64} << 20);
  TableStream stream(given.files, given.source, training_reading(o), given.limits);
  auto rows = std::make_shared<const StreamedRows>(std::move(stream), options, given.cache, progress);
  name_columns(o, rows->table().rows);
  return rows;
}

}  // namespace slimbayes
