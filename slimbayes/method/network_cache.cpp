#include "slimbayes/method/network_cache.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>

#include "slimbayes/catalog/option.h"
#include "slimbayes/data/rows/row_hash.h"

namespace slimbayes {

TrainedNetwork NetworkCache::trained(const std::string& key, const std::function<TrainedNetwork()>& train) {
  if (const auto found = entries_.find(key); found != entries_.end()) {
    ++taken_;
    seconds_ += found->second.seconds;
    return found->second.network;
  }
  const auto start = std::chrono::steady_clock::now();
  TrainedNetwork network = train();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (network.summary.stopped != Stopped::interrupted) entries_.emplace(key, Entry{network, seconds});
  return network;
}

std::string training_key(const NetworkSpec& spec, const TrainedNetworkOptions& options, const Split& split,
                         const Stream& stream) {
  return fmt::format("{} {} {} rows {:x} {:x} stream {:x} {:x} threads {}",
                     name_of(split.train.schema.task.kind), to_json(spec).dump(),
                     options_to_json(options).dump(), rows_hash(split.train), rows_hash(split.valid),
                     stream.bits(0), stream.bits(1), at::get_num_threads());
}

}  // namespace slimbayes
