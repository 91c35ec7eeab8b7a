#include "slimbayes/method/network_cache.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <map>
#include <optional>
#include <utility>

#include "slimbayes/catalog/option.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/rows/row_hash.h"

namespace slimbayes {

using Clock = std::chrono::steady_clock;

struct NetworkCache::Store {
  struct Entry {
    std::optional<TrainedNetwork> network;  // nothing while it is trained
    double seconds = 0;                     // of its training
  };
  std::mutex lock;
  std::condition_variable changed;
  std::map<std::string, Entry> entries;
};

NetworkCache::NetworkCache() : store_(std::make_shared<Store>()) {}
NetworkCache::NetworkCache(std::shared_ptr<Store> store) : store_(std::move(store)) {}
NetworkCache::~NetworkCache() = default;

std::unique_ptr<NetworkCache> NetworkCache::shared() const {
  return std::unique_ptr<NetworkCache>(new NetworkCache(store_));
}

TrainedNetwork NetworkCache::trained(const std::string& key, const std::function<TrainedNetwork()>& train) {
  const auto begin = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  {
    std::unique_lock held(store_->lock);
    while (true) {
      const auto found = store_->entries.find(key);
      if (found == store_->entries.end()) break;
      if (found->second.network) {
        add({key, found->second.seconds, spent(), true});
        return *found->second.network;
      }
      store_->changed.wait(held);
    }
    store_->entries.emplace(key, Store::Entry{});
  }
  std::optional<TrainedNetwork> network;
  double seconds = 0;
  const auto leave = [&](bool keep) {
    const std::scoped_lock held(store_->lock);
    seconds = spent();
    if (keep)
      store_->entries[key] = {network, seconds};
    else
      store_->entries.erase(key);
    store_->changed.notify_all();
  };
  bool whole = false;
  try {
    network = train();
    whole = network->summary.stopped != Stopped::interrupted;
    leave(whole);
  } catch (...) {  // the others, who wait, try themselves
    leave(false);
    throw;
  }
  if (whole) add({key, seconds, seconds, false});
  return *std::move(network);
}

void NetworkCache::add(Use use) {
  const std::scoped_lock held(lock_);
  uses_.push_back(std::move(use));
}

std::vector<NetworkCache::Use> NetworkCache::uses() const {
  const std::scoped_lock held(lock_);
  return uses_;
}

int64_t NetworkCache::taken() const { return std::ranges::count_if(uses(), &Use::found); }

namespace {

/// Returns " weights " and a hash of the weights of the rows; "" where every row counts once.
std::string key_of_weights(const Dataset& rows) {
  at::Tensor weights = rows.weights();
  if (!weights.defined()) return "";
  weights = weights.contiguous();
  const auto* const first = weights.const_data_ptr<double>();
  std::vector<int64_t> bits;
  for (int64_t i = 0; i < weights.size(0); ++i) bits.push_back(std::bit_cast<int64_t>(first[i]));
  return fmt::format(" weights {:x}", hash_of_rows(bits));
}

}  // namespace

std::string training_key(const NetworkSpec& spec, const TrainedNetworkOptions& options, const Split& split,
                         const Stream& stream, at::Device device) {
  return fmt::format("{} {} {} rows {:x}{} {:x}{} stream {:x} {:x} threads {} on {}",
                     name_of(split.train.schema.task.kind), to_json(spec).dump(),
                     options_to_json(options).dump(), rows_hash(split.train), key_of_weights(split.train),
                     rows_hash(split.valid), key_of_weights(split.valid), stream.bits(0), stream.bits(1),
                     at::get_num_threads(), name_of(device));
}

}  // namespace slimbayes
